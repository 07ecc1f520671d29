//! Parameters of an instance, as AWR reports list them.

mod support;

use record::imported::{Value, facts};
use support::read_as;

const TEXT: &str = "\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
SALES         2222222222 sales               1 01-Mar-13 07:00 11.2.0.3.0  NO

init.ora Parameters            DB/Inst: SALES/sales  Snaps: 10-11

                                                                End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
audit_file_dest               /u01/app/oracle/admin/sales/adump
control_files                 /u02/oradata/sales/control01.ctl,
                              /u02/oradata/sales/control02.ctl
db_block_size                 8192
db_file_multiblock_read_count 128                               16
disk_asynch_io                FALSE
filesystemio_options          NONE
          -------------------------------------------------------------

End of Report
";

#[test]
fn parameters_that_say_how_io_is_done() {
    let all = read_as("oracle-awr-text", TEXT);
    let fact = |name: &str| all.fact("sales", name).cloned();
    assert_eq!(fact("disk_asynch_io"), Some(Value::from("FALSE")));
    assert_eq!(fact("filesystemio_options"), Some(Value::from("NONE")));
    assert_eq!(fact("db_file_multiblock_read_count"), Some(Value::Number(16.0)), "the value at the end");
    assert_eq!(fact(facts::DATABASE_BLOCK_BYTES), Some(Value::Number(8192.0)));
    assert_eq!((fact("audit_file_dest"), fact("control_files")), (None, None));
    assert_eq!(all.complaints, []);
}

#[test]
fn parameters_in_html() {
    let html = r#"<html><head><title>AWR Report for DB: SALES, Inst: sales</title></head><body>
<h1>WORKLOAD REPOSITORY report for</h1>
<table border="0" summary="This table displays database instance information">
<tr><th>DB Name</th><th>DB Id</th><th>Instance</th><th>Inst num</th><th>Startup Time</th><th>Release</th><th>RAC</th></tr>
<tr><td>SALES</td><td>2222222222</td><td>sales</td><td>1</td><td>01-Mar-13 07:00</td><td>11.2.0.3.0</td><td>NO</td></tr>
</table>
<table border="0" summary="This table displays name and value of init.ora parameters">
<tr><th>Parameter Name</th><th>Begin value</th><th>End value (if different)</th></tr>
<tr><td>filesystemio_options</td><td>SETALL</td><td>&#160;</td></tr>
<tr><td>db_file_multiblock_read_count</td><td>128</td><td>&#160;</td></tr>
</table>
</body></html>
"#;
    let all = read_as("oracle-awr-html", html);
    assert_eq!(all.fact("sales", "filesystemio_options"), Some(&Value::from("SETALL")));
    assert_eq!(all.fact("sales", "db_file_multiblock_read_count"), Some(&Value::Number(128.0)));
}
