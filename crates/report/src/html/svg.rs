//! Just enough SVG.

use std::fmt::Write;

/// Text for element content and quoted attributes. Control characters, which HTML may not hold, become blanks.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ if letter.is_control() => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Where a text is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing under construction. Colours come from classes, so that light and dark share one drawing.
pub struct Svg {
    width: f64,
    height: f64,
    id: &'static str,
    body: String,
}

impl Svg {
    /// An empty drawing; `id` is unique on the page.
    pub fn new(id: &'static str, width: f64, height: f64) -> Self {
        Self { width, height, id, body: String::new() }
    }

    /// A polyline through points; the pen lifts where a point is absent.
    pub fn line_through(&mut self, class: &str, points: impl IntoIterator<Item = Option<(f64, f64)>>) {
        let mut path = String::new();
        let mut pen = 'M';
        for point in points {
            if let Some((x, y)) = point {
                path.push(pen);
                push_pair(&mut path, x, y);
            }
            pen = if point.is_some() { 'L' } else { 'M' };
        }
        self.path(class, &path);
    }

    /// The area between two lines over the same places.
    pub fn area(&mut self, class: &str, upper: &[(f64, f64)], lower: &[(f64, f64)]) {
        let mut path = String::new();
        for (index, (x, y)) in upper.iter().chain(lower.iter().rev()).enumerate() {
            path.push(if index == 0 { 'M' } else { 'L' });
            push_pair(&mut path, *x, *y);
        }
        path.push('Z');
        self.path(class, &path);
    }

    fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() && path != "Z" {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.line_through(class, [Some(from), Some(to)]);
    }

    /// A dot.
    pub fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let (x, y) = (short(x), short(y));
        let _ = write!(self.body, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>");
    }

    /// A rectangle.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let (x, y, width, height) = (short(x), short(y), short(width.max(0.0)), short(height.max(0.0)));
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }

    /// Text, escaped.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, text) = (short(x), short(y), escape(text));
        let _ = write!(self.body, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>");
    }

    /// A place that tells its numbers under the pointer.
    pub fn readout(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), text: &str) {
        let (x, y, width, height) = (short(x), short(y), short(width.max(0.0)), short(height.max(0.0)));
        let text = escape(text);
        let _ = write!(
            self.body,
            "<rect class=\"hit\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" data-t=\"{text}\">\
             <title>{text}</title></rect>"
        );
    }

    /// The element, with its title and description for those who cannot see it.
    pub fn finish(self, title: &str, description: &str) -> String {
        let Self { width, height, id, body } = self;
        let (title, description) = (escape(title), escape(description));
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{description}</desc>{body}</svg>"
        )
    }
}

fn push_pair(path: &mut String, x: f64, y: f64) {
    path.push_str(&short(x));
    path.push(' ');
    path.push_str(&short(y));
}

/// One digit after the point is a tenth of a pixel.
fn short(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e5, 1e5) } else { 0.0 };
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// A key of a chart: the class of its mark and what it means.
pub type Key<'a> = (&'a str, String);

/// A figure: caption, keys, drawing, and the line that shows the numbers under the pointer.
pub fn figure(caption: &str, explained: &str, keys: &[Key<'_>], drawing: &str) -> String {
    let key = |(class, text): &Key<'_>| format!("<span><i class=\"{class}\"></i>{}</span>", escape(text));
    let keys: String = keys.iter().map(key).collect();
    format!(
        "<figure><figcaption><h2>{}</h2><p class=\"faint\">{}</p><p class=\"keys\">{keys}</p></figcaption>\
         {drawing}<output></output></figure>\n",
        escape(caption),
        escape(explained)
    )
}
