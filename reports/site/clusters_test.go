package site

import "testing"

func TestDocument(t *testing.T) {
	const text = "# A `b`\n\nfirst\nline\n\n- one\n  more\n- two `<x>`\n\n```sh\na < b\n```\n\n```text\n- c\n```\n\n## D\n"
	const box = `<div class="scroll" tabindex="0" role="region" aria-label="Commands, or what they print"><pre>`
	const want = "<h1>A <code>b</code></h1>\n<p>first\nline</p>\n<ul><li>one\n  more</li>\n<li>two <code>&lt;x&gt;</code></li></ul>\n" +
		box + "a &lt; b\n</pre></div>\n" + box + "- c\n</pre></div>\n<h2>D</h2>\n"
	if got := string(document(text)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
