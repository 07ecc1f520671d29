// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// Where block requests stand, summed up in the kernel.
//
// The request itself carries the time of its acceptance (start_time_ns) and of its dispatch to the driver
// (io_start_time_ns). At completion both are known: host wait = dispatch - acceptance, service = now - dispatch.
// So one program does the work, without a map that remembers requests. A direct-mapped table of requests in flight
// is kept beside it for two purposes: what stands in the queues at the end of a window (a hanging device completes
// nothing), and the dispatch time on queues that do not stamp their requests (nobody asked for statistics there).
//
// Everything is bounded: values are made by user space beforehand, and an event without a place is counted as lost.
//
// What makes it cheap, by what each step took when it was measured: no hash map on the way of a request (20 ns a look-up;
// an array is inlined), no table whose next place is on another page (30 ns; requests stand by their tags), no atomic
// adds (6 ns each) where a copy of the sums belongs to one processor and the kernel does not run a program that it
// interrupted (since 6.1). Before, an interrupt may complete another request in the middle of one of these programs.
//
// Build: scripts/bpf (clang -target bpf). The object is committed beside this file; a test holds them together.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static __attribute__((always_inline)) inline
#define EXISTS(field) __builtin_preserve_field_info(field, 2)

struct task_struct;

// Helper numbers of the kernel's interface (uapi/linux/bpf.h).
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*const ktime_ns)(void) = (void *)5;
static u32 (*const cpu_id)(void) = (void *)8;
static u64 (*const current_pid_tgid)(void) = (void *)14;
static long (*const current_comm)(void *to, u32 size) = (void *)16;
static u64 (*const current_cgroup)(void) = (void *)80;
static long (*const read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static u64 (*const jiffies)(void) = (void *)118;
static struct task_struct *(*const current_task)(void) = (void *)158; // since 5.11

#define MAP_HASH 1
#define MAP_ARRAY 2
#define NO_EXIST 1

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// ---- what the kernel's types are called; offsets are set when the program is loaded (CO-RE) ----

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct gendisk {
	int major;
	int first_minor;
} KERNEL_TYPE;

struct request_queue {
	struct gendisk *disk; // since 5.15
} KERNEL_TYPE;

struct blk_mq_hw_ctx;

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	s32 tag; // none (-1) while a scheduler holds it
	s32 internal_tag; // the scheduler's
	u32 cmd_flags;
	u32 __data_len;
	u64 start_time_ns;
	u64 io_start_time_ns;
} KERNEL_TYPE;

struct request___before_5_17 {
	struct gendisk *rq_disk;
} KERNEL_TYPE;

struct block_device {
	u32 bd_dev;
	struct gendisk *bd_disk;
} KERNEL_TYPE;

struct task_struct {
	s32 tgid;
	char comm[16];
} KERNEL_TYPE;

struct bvec_iter {
	u32 bi_size;
} KERNEL_TYPE;

struct bio {
	struct block_device *bi_bdev; // since 5.12
	u32 bi_opf;
	struct bvec_iter bi_iter;
} KERNEL_TYPE;

struct bio___before_5_12 {
	struct gendisk *bi_disk;
} KERNEL_TYPE;

// ---- set by the loader ----

// Position of the request or bio among the arguments: a queue stood before it until 5.10.
const volatile u32 request_argument = 0;
const volatile u32 bio_argument = 0;
const volatile u32 merge_argument = 0;
const volatile u32 split_argument = 0;
// Number of copies of each sum, less one; a power of two less one. Processors share copies where devices are many.
const volatile u32 shard_mask = 0;
// Whether each processor has a copy of its own and no program is run in the middle of itself: then sums need no atomic
// adds.
const volatile u32 own_sums = 0;
// Whether each processor counts its askers itself; the kernel must not run a program in the middle of itself.
const volatile u32 own_askers = 0;
// Whether the table of requests in flight is kept.
const volatile u32 keep_in_flight = 1;
// Do as if requests carried no times (for tests, and where the kernel's times are not trusted).
const volatile u32 ignore_stamps = 0;
// Offsets of fields of the SCSI types, which may stand in the BTF of a module.
const volatile u32 at_cmnd_device = 0;
const volatile u32 at_cmnd_result = 0;
const volatile u32 at_device_host = 0;
const volatile u32 at_device_channel = 0;
const volatile u32 at_device_id = 0;
const volatile u32 at_device_lun = 0;
const volatile u32 at_host_no = 0;

// ---- maps ----

enum class { CLASS_READ, CLASS_WRITE, CLASS_DISCARD, CLASS_FLUSH, CLASS_OTHER };

// Log-linear: 16 steps in each power of two from 1.024 us to 137 s; below is the first bucket, above the last.
#define OCTAVE_MIN 10
#define OCTAVE_MAX 36
#define BUCKETS (1 + (OCTAVE_MAX - OCTAVE_MIN + 1) * 16 + 1)
// Request sizes: powers of two from 512 bytes; a bucket holds sizes up to and including its power.
#define SIZES 16

// One class of one device, in one of two alternating sets.
struct sums {
	u64 bytes;
	u64 host_wait_ns;
	u64 service_ns;
	// Of requests that did not stand in the table: the parts of the two above that passed before the present window
	// began. What those in the table had spent by then, user space has read there.
	u64 host_wait_before_ns;
	u64 service_before_ns;
	u64 errors;
	// Completed without times: in no histogram.
	u64 untimed;
	u64 partial;
	// Of those whose completion was not seen: apart, because they are added by another program, which may run in the
	// middle of the one that adds the others.
	u64 unseen_bytes;
	u32 host_wait[BUCKETS];
	u32 service[BUCKETS];
	u32 size[SIZES];
	u32 unseen_size[SIZES];
};

// Where the sums of a device stand; user space fills these in.
struct slot {
	u32 dev; // 0: free
	u32 slot;
};

#define SLOT_ROWS 4096
#define SLOT_WAYS 8

struct slot_row {
	struct slot slot[SLOT_WAYS];
};

#define CLASSES 5

struct counts {
	u64 requeues;
	u64 splits;
	u64 front_merges;
	u64 back_merges;
	// Requests that only waited for a flush of the device; the flush itself is counted in its class.
	u64 flush_waits;
};

struct place {
	u64 request;
	u32 dev;
	u32 class_and_bytes; // the class in the lowest three bits, above them the bytes in units of eight
	u64 start_ns;
	u64 issue_ns;
};

#define COLUMNS 128
#define ROWS 256
#define WAYS 4

struct row {
	struct place place[COLUMNS];
};

struct asker {
	u32 tgid;
	u32 dev;
};

struct asked {
	u64 reads;
	u64 writes;
	u64 others;
	u64 read_bytes;
	u64 write_bytes;
	u64 cgroup;
	char comm[16];
};

// What one process asked of one device (or partition) on one processor. Only that processor writes here.
struct cell {
	u32 tgid; // 0 with part 0: free
	u32 part;
	u32 dev;
	u32 window; // the last in which it asked
	u64 jiffies;
	struct asked asked;
	u32 tgid_again; // so that a reader sees a change
	u32 part_again;
};

#define CELLS 64

struct cells {
	struct cell cell[CELLS];
};

struct window {
	u64 word; // when it began; the lowest bit names the set of sums in use
	u64 number;
};

enum lost { LOST_DEVICE, LOST_PLACE, LOST_ASKER, LOST_SCSI, LOST_COMPLETION, LOST_KINDS };

struct lost_counts {
	u64 of[LOST_KINDS];
	u64 spare[3];
};

struct hctl {
	u32 host;
	u32 channel;
	u32 id;
	u32 lun;
};

struct scsi_counts {
	u64 task_set_full;
	u64 busy;
	u64 check_condition;
	u64 other_status;
	u64 host_error;
	u64 refused_host_busy;
	u64 refused_device_busy;
	u64 refused_other;
	u64 timeouts;
};

#define MAP(kind, key_type, value_type, entries, flags)          \
	struct {                                                 \
		int (*type)[kind];                               \
		int (*max_entries)[entries];                     \
		int (*map_flags)[flags];                         \
		key_type *key;                                   \
		value_type *value;                               \
	}

// How many, the loader says.
MAP(MAP_ARRAY, u32, struct sums, 1, 0) sums SEC(".maps");
MAP(MAP_ARRAY, u32, struct counts, 1, 0) counts SEC(".maps");
MAP(MAP_ARRAY, u32, struct slot_row, SLOT_ROWS, 0) slots SEC(".maps");
MAP(MAP_ARRAY, u32, struct row, ROWS, 0) in_flight SEC(".maps");
MAP(MAP_HASH, struct asker, struct asked, 4096, 0) askers SEC(".maps");
MAP(MAP_ARRAY, u32, struct cells, 1, 0) cells SEC(".maps");
MAP(MAP_HASH, struct hctl, struct scsi_counts, 1024, 0) scsi SEC(".maps");
MAP(MAP_ARRAY, u32, struct lost_counts, 1, 0) lost SEC(".maps");
MAP(MAP_ARRAY, u32, struct window, 1, 0) window SEC(".maps");
// For each place of the table how many requests stand elsewhere because it was taken.
MAP(MAP_ARRAY, u32, u32, ROWS * COLUMNS, 0) strays SEC(".maps");

// Stores before it are made before those after it.
#define BARRIER() asm volatile("" ::: "memory")

#define ADD(where, what) ((void)__sync_fetch_and_add(&(where), (what)))
// To sums of one's own; the verifier knows which it is and leaves the other out.
#define ADD_OWN(own, where, what)           \
	do {                                \
		if (own)                    \
			(where) += (what);  \
		else                        \
			ADD(where, what);   \
	} while (0)

INLINE struct lost_counts *lost_counts(void)
{
	u32 zero = 0;
	return map_lookup(&lost, &zero);
}

#define LOSE(kind)                                   \
	do {                                         \
		struct lost_counts *l = lost_counts(); \
		if (l)                               \
			ADD(l->of[kind], 1);         \
	} while (0)

// An argument at a position that is constant for the verifier. In assembly, because the compiler would otherwise
// compute an address from the position, and the verifier wants a constant one.
#define ARGUMENT(into, ctx, n) asm volatile("%0 = *(u64 *)(%1 + " #n " * 8)" : "=r"(into) : "r"(ctx))

#define REQUEST_OF(into, ctx)                     \
	do {                                      \
		if (request_argument)             \
			ARGUMENT(into, ctx, 1);   \
		else                              \
			ARGUMENT(into, ctx, 0);   \
	} while (0)

INLINE u32 dev_of_disk(struct gendisk *disk)
{
	return (u32)disk->major << 20 | (u32)disk->first_minor;
}

INLINE u32 dev_of(struct request *rq)
{
	struct request___before_5_17 *old = (void *)rq;
	if (EXISTS(old->rq_disk))
		return dev_of_disk(old->rq_disk);
	return dev_of_disk(rq->q->disk);
}

INLINE u32 dev_of_bio(struct bio *bio)
{
	struct bio___before_5_12 *old = (void *)bio;
	if (EXISTS(old->bi_disk))
		return dev_of_disk(old->bi_disk);
	return dev_of_disk(bio->bi_bdev->bd_disk);
}

// As the kernel sorts them for /proc/diskstats.
INLINE u32 class_of(u32 flags)
{
	u32 op = flags & 0xff;
	if (op <= 1)
		return op; // read, write
	if (op == 2)
		return CLASS_FLUSH;
	if (op == 3 || op == 5)
		return CLASS_DISCARD;
	if (op >= 32)
		return CLASS_OTHER; // passed through: not of the block layer
	return op & 1 ? CLASS_WRITE : CLASS_OTHER;
}

// Logarithms of what fits a byte: half the branches of a search by halves.
#define TWICE(v) v, v
#define FOUR(v) TWICE(v), TWICE(v)
#define EIGHT(v) FOUR(v), FOUR(v)
#define SIXTEEN(v) EIGHT(v), EIGHT(v)
#define OF_32(v) SIXTEEN(v), SIXTEEN(v)
#define OF_64(v) OF_32(v), OF_32(v)
static const u8 log2_of_byte[256] = { 0, 0, TWICE(1), FOUR(2), EIGHT(3), SIXTEEN(4), OF_32(5), OF_64(6), OF_64(7), OF_64(7) };

INLINE u32 log2_of(u64 v)
{
	u32 r = 0;
	if (v >> 32) {
		v >>= 32;
		r = 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	// In assembly, because the compiler knows it to be a byte and the verifier does not.
	asm volatile("%0 &= 255" : "+r"(v));
	return r + log2_of_byte[v];
}

INLINE u32 bucket_of(u64 ns)
{
	if (ns >> OCTAVE_MIN == 0)
		return 0;
	if (ns >> (OCTAVE_MAX + 1))
		return BUCKETS - 1;
	u32 octave = log2_of(ns);
	u32 bucket = 1 + (octave - OCTAVE_MIN) * 16 + ((u32)(ns >> ((octave - 4) & 63)) & 15);
	return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

INLINE u32 size_of(u32 bytes)
{
	if (bytes <= 512)
		return 0;
	u32 size = log2_of((u64)bytes - 1) - 8;
	return size < SIZES ? size : SIZES - 1;
}

// ---- the table of requests in flight: a direct map of four ways, without locks ----

// A number that names the request as long as the object is loaded. The verifier allows no arithmetic with pointers
// but their difference, so it is the distance from a fixed place.
INLINE u64 key_of(struct request *rq)
{
	u64 key = (u64)rq;
	asm volatile("%0 -= %1" : "+r"(key) : "r"(&shard_mask));
	return key;
}

// Where a request stands by its tag: those of one hardware queue side by side, so that few pages are touched.
INLINE u32 near_of(struct request *rq)
{
	u64 queue = (u64)rq->mq_hctx;
	asm volatile("%0 -= %1" : "+r"(queue) : "r"(&shard_mask));
	s32 tag = rq->internal_tag;
	if (tag < 0)
		tag = rq->tag;
	return (u32)(queue * 0x9E3779B97F4A7C15ULL >> 49) + (u32)tag;
}

// Where it stands when that place is taken (queues overlap, and a flush borrows a tag): one of four, by its address.
INLINE u32 far_of(u64 key)
{
	return (u32)(key * 0x9E3779B97F4A7C15ULL >> 49); // 15 bits: row, column
}

INLINE struct row *row_of(u32 place)
{
	u32 row = place / COLUMNS & (ROWS - 1);
	return map_lookup(&in_flight, &row);
}

INLINE struct place *find_far(u64 key, u64 request)
{
	u32 hash = far_of(key);
	struct row *row = row_of(hash);
	if (!row)
		return 0;
#pragma unroll
	for (u32 way = 0; way < WAYS; way++) {
		struct place *p = &row->place[(hash + way) & (COLUMNS - 1)];
		if (p->request == request)
			return p;
	}
	return 0;
}

INLINE u32 *strays_of(u32 near)
{
	u32 at = near & (ROWS * COLUMNS - 1);
	return map_lookup(&strays, &at);
}

// Where a request stands; `stray` becomes the number of those like it when it does not stand where its tag says.
INLINE struct place *find(struct request *rq, u32 **stray)
{
	u64 key = key_of(rq);
	u32 near = near_of(rq);
	struct row *row = row_of(near);
	if (!row)
		return 0;
	struct place *p = &row->place[near & (COLUMNS - 1)];
	if (p->request == key)
		return p;
	u32 *some = strays_of(near);
	if (!some || !*some)
		return 0;
	p = find_far(key, key);
	if (p)
		*stray = some;
	return p;
}

INLINE void leaves(struct place *p, u32 *stray)
{
	p->request = 0;
	if (stray)
		ADD(*stray, -1);
}

INLINE struct place *make(struct request *rq)
{
	u64 key = key_of(rq);
	u32 near = near_of(rq);
	struct row *row = row_of(near);
	if (!row)
		return 0;
	struct place *p = &row->place[near & (COLUMNS - 1)];
	if (!p->request)
		return p;
	u32 *some = strays_of(near);
	if (!some)
		return 0;
	p = find_far(key, 0);
	if (p)
		ADD(*some, 1);
	return p;
}

// ---- sums by device ----

#define NO_SLOT (~0u)

INLINE u32 slot_of(u32 dev)
{
	u32 at = dev * 0x9E3779B1u >> 20; // 12 bits
	struct slot_row *row = map_lookup(&slots, &at);
	if (!row)
		return NO_SLOT;
#pragma unroll
	for (u32 way = 0; way < SLOT_WAYS; way++)
		if (row->slot[way].dev == dev)
			return row->slot[way].slot;
	return NO_SLOT;
}

INLINE struct sums *sums_of(u32 dev, u32 class, u64 window_word)
{
	u32 slot = slot_of(dev);
	if (slot == NO_SLOT)
		return 0;
	u32 at = ((slot * CLASSES + class) * (shard_mask + 1) + (cpu_id() & shard_mask)) * 2 + (window_word & 1);
	return map_lookup(&sums, &at);
}

INLINE struct counts *counts_of(u32 dev)
{
	u32 slot = slot_of(dev);
	return slot == NO_SLOT ? 0 : map_lookup(&counts, &slot);
}

INLINE struct window *window_now(void)
{
	u32 zero = 0;
	return map_lookup(&window, &zero);
}

// A request that was at the device begins anew: its completion was not seen, because the kernel did not run our
// program then (it does not run one that it interrupted, for instance). When it ended nobody knows, but it is counted.
INLINE void ended_unseen(struct place *p)
{
	LOSE(LOST_COMPLETION);
	struct window *now = window_now();
	if (!now)
		return;
	u32 bytes = p->class_and_bytes & ~7u;
	struct sums *s = sums_of(p->dev, p->class_and_bytes & 7, now->word);
	if (!s)
		return;
	ADD(s->unseen_bytes, bytes);
	ADD(s->unseen_size[size_of(bytes) & (SIZES - 1)], 1);
}

INLINE void stands(struct request *rq, u64 issue_ns)
{
	u64 start = 0;
	if (EXISTS(rq->start_time_ns) && !ignore_stamps)
		start = rq->start_time_ns;
	u32 class_and_bytes = class_of(rq->cmd_flags) | (rq->__data_len & ~7u);
	u32 *stray = 0;
	struct place *p = find(rq, &stray);
	if (p) {
		if (p->issue_ns && (!start || start != p->start_ns)) {
			ended_unseen(p);
		} else if (issue_ns && !p->issue_ns && (!start || start == p->start_ns)) {
			// The usual way: it stood in the host queue, perhaps grew by merges, and goes to the device now.
			p->class_and_bytes = class_and_bytes;
			p->issue_ns = issue_ns;
			return;
		}
	} else {
		p = make(rq);
		if (!p) {
			LOSE(LOST_PLACE);
			return;
		}
	}
	if (!start)
		start = issue_ns ? issue_ns : ktime_ns();
	p->start_ns = start;
	p->issue_ns = issue_ns;
	p->dev = dev_of(rq);
	p->class_and_bytes = class_and_bytes;
	p->request = key_of(rq);
}

SEC("tp_btf/block_rq_insert")
int rq_insert(u64 *ctx)
{
	struct request *rq;
	REQUEST_OF(rq, ctx);
	stands(rq, 0);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int rq_issue(u64 *ctx)
{
	struct request *rq;
	REQUEST_OF(rq, ctx);
	stands(rq, ktime_ns());
	return 0;
}

// Two requests became one; this one will not be completed.
SEC("tp_btf/block_rq_merge")
int rq_merge(u64 *ctx)
{
	struct request *rq;
	REQUEST_OF(rq, ctx);
	u32 *stray = 0;
	struct place *p = find(rq, &stray);
	if (p)
		leaves(p, stray);
	return 0;
}

// Back from the driver to the host queue; the time at the device was in vain and counts as host wait.
SEC("tp_btf/block_rq_requeue")
int rq_requeue(u64 *ctx)
{
	struct request *rq;
	REQUEST_OF(rq, ctx);
	struct counts *c = counts_of(dev_of(rq));
	if (c)
		ADD(c->requeues, 1);
	if (keep_in_flight) {
		u32 *stray = 0;
		struct place *p = find(rq, &stray);
		if (p)
			p->issue_ns = 0;
	}
	return 0;
}

SEC("tp_btf/block_rq_complete")
int rq_complete(u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	u32 error = (u32)ctx[1];
	u32 bytes = (u32)ctx[2];
	u32 left = rq->__data_len;
	struct place *p = 0;
	u32 *stray = 0;
	if (keep_in_flight)
		p = find(rq, &stray);
	u64 now = ktime_ns();
	u32 dev = p ? p->dev : dev_of(rq);
	u32 class = class_of(rq->cmd_flags);
	u64 start = 0, issue = 0;

	if (EXISTS(rq->start_time_ns) && EXISTS(rq->io_start_time_ns) && !ignore_stamps) {
		start = rq->start_time_ns;
		issue = rq->io_start_time_ns;
	}

	struct window *present = window_now();
	if (!present)
		return 0;
	u64 word = present->word;
	struct sums *s = sums_of(dev, class, word);
	u32 own = own_sums;

	if (bytes < left) { // a part; the rest follows
		if (s) {
			ADD_OWN(own, s->bytes, bytes);
			ADD_OWN(own, s->partial, 1);
		}
		return 0;
	}

	if (p) {
		// Since 6.9 the kernel's own times are one for a plugged batch; ours is of the dispatch.
		if (p->issue_ns)
			issue = p->issue_ns;
		if (!start)
			start = p->start_ns;
		leaves(p, stray);
	}

	// A write without data only waited for the device's flush, or is told a second time after its data.
	if (class == CLASS_WRITE && left == 0 && (rq->cmd_flags & 0xff) == 1) {
		struct counts *c = counts_of(dev);
		if (c)
			ADD(c->flush_waits, 1);
		return 0;
	}

	if (!s) {
		LOSE(LOST_DEVICE);
		return 0;
	}
	ADD_OWN(own, s->bytes, bytes);
	ADD_OWN(own, s->size[size_of(bytes) & (SIZES - 1)], 1);
	if (error)
		ADD_OWN(own, s->errors, 1);
	if (!issue) {
		ADD_OWN(own, s->untimed, 1);
		return 0;
	}
	if (!start || start > issue)
		start = issue;
	if (now < issue)
		now = issue;
	u64 wait = issue - start, service = now - issue;
	ADD_OWN(own, s->host_wait_ns, wait);
	ADD_OWN(own, s->service_ns, service);
	ADD_OWN(own, s->host_wait[bucket_of(wait)], 1);
	ADD_OWN(own, s->service[bucket_of(service)], 1);
	u64 since = word & ~1ULL;
	if (start < since && !p) {
		ADD_OWN(own, s->host_wait_before_ns, (issue < since ? issue : since) - start);
		if (issue < since)
			ADD_OWN(own, s->service_before_ns, (now < since ? now : since) - issue);
	}
	return 0;
}

// ---- who asked ----

// Returns 0 when both places of this asker are taken by others that still ask.
INLINE u32 count_own(struct bio *bio, u32 class, u32 bytes)
{
	u32 cpu = cpu_id();
	struct cells *cells_of_cpu = map_lookup(&cells, &cpu);
	struct window *present = window_now();
	if (!cells_of_cpu || !present)
		return 0;
	struct task_struct *task = current_task();
	u32 tgid = (u32)task->tgid, part = bio->bi_bdev->bd_dev, window = (u32)present->number;
	u32 at = (tgid * 0x9E3779B1u ^ part * 0x85EBCA6Bu) >> 26; // 6 bits
	struct cell *c = &cells_of_cpu->cell[at & (CELLS - 1)];
	if (c->tgid != tgid || c->part != part) {
		struct cell *second = &cells_of_cpu->cell[(at ^ 1) & (CELLS - 1)];
		if (second->tgid == tgid && second->part == part) {
			c = second;
		} else {
			// Who was idle for a whole window was read after it, so that place may be taken.
			if (window - c->window < 2)
				c = second;
			if (window - c->window < 2)
				return 0;
			c->tgid = 0;
			c->part = 0;
			BARRIER();
			struct asked none = {};
			c->asked = none;
			c->asked.cgroup = current_cgroup();
			c->dev = dev_of_disk(bio->bi_bdev->bd_disk);
			c->tgid_again = tgid;
			c->part_again = part;
			BARRIER();
			c->part = part;
			c->tgid = tgid;
		}
	}
	c->window = window;
	c->jiffies = jiffies();
	// Each time: a process that reads its own program first does so under the name of its parent.
	__builtin_memcpy(c->asked.comm, task->comm, sizeof(c->asked.comm));
	if (class == CLASS_READ) {
		c->asked.reads += 1;
		c->asked.read_bytes += bytes;
	} else if (class == CLASS_WRITE) {
		c->asked.writes += 1;
		c->asked.write_bytes += bytes;
	} else {
		c->asked.others += 1;
	}
	return 1;
}

SEC("tp_btf/block_bio_queue")
int bio_queue(u64 *ctx)
{
	struct bio *bio;
	if (bio_argument)
		ARGUMENT(bio, ctx, 1);
	else
		ARGUMENT(bio, ctx, 0);
	u32 class = class_of(bio->bi_opf);
	u32 bytes = bio->bi_iter.bi_size;
	if (own_askers && count_own(bio, class, bytes))
		return 0;
	struct asker who = { .tgid = (u32)(current_pid_tgid() >> 32), .dev = dev_of_bio(bio) };
	struct asked *a = map_lookup(&askers, &who);
	if (!a) {
		struct asked fresh = {};
		fresh.cgroup = current_cgroup();
		map_update(&askers, &who, &fresh, NO_EXIST);
		a = map_lookup(&askers, &who);
		if (!a) {
			LOSE(LOST_ASKER);
			return 0;
		}
	}
	// Each time: a process that reads its own program first does so under the name of its parent.
	current_comm(a->comm, sizeof(a->comm));
	if (class == CLASS_READ) {
		ADD(a->reads, 1);
		ADD(a->read_bytes, bytes);
	} else if (class == CLASS_WRITE) {
		ADD(a->writes, 1);
		ADD(a->write_bytes, bytes);
	} else {
		ADD(a->others, 1);
	}
	return 0;
}

// ---- merged before they were requests, and split because they were too large ----

SEC("tp_btf/block_bio_backmerge")
int bio_backmerge(u64 *ctx)
{
	struct bio *bio;
	if (merge_argument)
		ARGUMENT(bio, ctx, 2);
	else
		ARGUMENT(bio, ctx, 0);
	struct counts *c = counts_of(dev_of_bio(bio));
	if (c)
		ADD(c->back_merges, 1);
	return 0;
}

SEC("tp_btf/block_bio_frontmerge")
int bio_frontmerge(u64 *ctx)
{
	struct bio *bio;
	if (merge_argument)
		ARGUMENT(bio, ctx, 2);
	else
		ARGUMENT(bio, ctx, 0);
	struct counts *c = counts_of(dev_of_bio(bio));
	if (c)
		ADD(c->front_merges, 1);
	return 0;
}

SEC("tp_btf/block_split")
int bio_split(u64 *ctx)
{
	struct bio *bio;
	if (split_argument)
		ARGUMENT(bio, ctx, 1);
	else
		ARGUMENT(bio, ctx, 0);
	struct counts *c = counts_of(dev_of_bio(bio));
	if (c)
		ADD(c->splits, 1);
	return 0;
}

// ---- SCSI: only what did not go well ----

INLINE struct scsi_counts *scsi_counts(struct hctl *who)
{
	struct scsi_counts *c = map_lookup(&scsi, who);
	if (c)
		return c;
	struct scsi_counts fresh = {};
	map_update(&scsi, who, &fresh, NO_EXIST);
	c = map_lookup(&scsi, who);
	if (!c)
		LOSE(LOST_SCSI);
	return c;
}

INLINE void scsi_result(struct hctl *who, u32 result)
{
	struct scsi_counts *c = scsi_counts(who);
	if (!c)
		return;
	u32 status = result & 0xff;
	if (status == 0x28)
		ADD(c->task_set_full, 1);
	else if (status == 0x08)
		ADD(c->busy, 1);
	else if (status == 0x02)
		ADD(c->check_condition, 1);
	else if (status)
		ADD(c->other_status, 1);
	if (result >> 16 & 0xff)
		ADD(c->host_error, 1);
}

INLINE void scsi_refused(struct hctl *who, u32 answer)
{
	struct scsi_counts *c = scsi_counts(who);
	if (!c)
		return;
	if (answer == 0x1055) // SCSI_MLQUEUE_HOST_BUSY
		ADD(c->refused_host_busy, 1);
	else if (answer == 0x1056) // SCSI_MLQUEUE_DEVICE_BUSY
		ADD(c->refused_device_busy, 1);
	else
		ADD(c->refused_other, 1);
}

INLINE void scsi_timeout(struct hctl *who)
{
	struct scsi_counts *c = scsi_counts(who);
	if (c)
		ADD(c->timeouts, 1);
}

// Raw tracepoints: the arguments as the kernel passes them, read by offsets that the loader found.

INLINE u64 pointer_at(u64 base, u32 offset)
{
	u64 value = 0;
	read_kernel(&value, sizeof(value), (void *)(base + offset));
	return value;
}

INLINE u32 word_at(u64 base, u32 offset)
{
	u32 value = 0;
	read_kernel(&value, sizeof(value), (void *)(base + offset));
	return value;
}

INLINE struct hctl hctl_of(u64 cmnd)
{
	u64 device = pointer_at(cmnd, at_cmnd_device);
	u64 host = pointer_at(device, at_device_host);
	struct hctl who = {
		.host = word_at(host, at_host_no),
		.channel = word_at(device, at_device_channel),
		.id = word_at(device, at_device_id),
		.lun = word_at(device, at_device_lun),
	};
	return who;
}

SEC("raw_tp/scsi_dispatch_cmd_done")
int scsi_done_raw(u64 *ctx)
{
	u64 cmnd = ctx[0];
	u32 result = word_at(cmnd, at_cmnd_result);
	if (!result)
		return 0;
	struct hctl who = hctl_of(cmnd);
	scsi_result(&who, result);
	return 0;
}

SEC("raw_tp/scsi_dispatch_cmd_error")
int scsi_error_raw(u64 *ctx)
{
	struct hctl who = hctl_of(ctx[0]);
	scsi_refused(&who, (u32)ctx[1]);
	return 0;
}

SEC("raw_tp/scsi_dispatch_cmd_timeout")
int scsi_timeout_raw(u64 *ctx)
{
	struct hctl who = hctl_of(ctx[0]);
	scsi_timeout(&who);
	return 0;
}

// Classic tracepoints: the fields as the format file of tracefs describes them; the loader compares it with this.

struct scsi_event {
	u64 common;
	struct hctl who;
	u32 result; // of scsi_dispatch_cmd_error: what queuecommand answered
};

SEC("tracepoint/scsi/scsi_dispatch_cmd_done")
int scsi_done_event(struct scsi_event *event)
{
	u32 result = event->result;
	if (!result)
		return 0;
	struct hctl who = event->who;
	scsi_result(&who, result);
	return 0;
}

SEC("tracepoint/scsi/scsi_dispatch_cmd_error")
int scsi_error_event(struct scsi_event *event)
{
	struct hctl who = event->who;
	scsi_refused(&who, event->result);
	return 0;
}

SEC("tracepoint/scsi/scsi_dispatch_cmd_timeout")
int scsi_timeout_event(struct scsi_event *event)
{
	struct hctl who = event->who;
	scsi_timeout(&who);
	return 0;
}
