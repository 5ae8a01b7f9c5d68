"""plain-pages.py --site SITE --output FOLDER: writes a DocC archive as plain HTML, for tools/docs.

DocC has resolved every link when it writes its archive, and keeps each page as a tree of blocks in data/**/*.json
(swift-docc, RenderNode.spec.json). This script turns those trees into HTML that needs neither JavaScript nor a server:

    index.html            the module's page: its article, and the topics
    <Article>.html        each article
    symbols/<Type>.html   each type of the module, with all of its members
    symbols/functions.html   functions of no type
    symbols/Swift.html, …    extensions of types of other modules
    images/               the images of the articles

A kind of block or of inline content that this script doesn't know is an error, so that no text gets lost.
"""
import argparse
import collections
import html
import json
import pathlib
import shutil
import urllib.parse

STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #fff; --code: #f4f6f8;
  --link: #0b5cc4; --mark: #fff8e1; --edge: #d9a400; }
@media (prefers-color-scheme: dark) { :root { --text: #e3e6ea; --soft: #9aa4af; --line: #39424d; --back: #14181d;
  --code: #1e242b; --link: #6cb0ff; --mark: #2a2614; --edge: #9a7a12; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 16px/1.6 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
.frame { display: flex; gap: 3rem; max-width: 78rem; margin: 0 auto; padding: 0 1.5rem; }
nav { flex: 0 0 14.5rem; font-size: .9rem; line-height: 1.4; padding: 2rem 0; position: sticky; top: 0;
  max-height: 100vh; overflow-y: auto; align-self: flex-start; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: .3rem 0; }
nav li li { margin-left: .9rem; font-size: .85rem; }
nav .home { font-weight: 700; font-size: 1.1rem; color: var(--text); }
nav .group { margin: 1.1rem 0 .3rem; color: var(--soft); font-size: .8rem; font-weight: 600; }
nav .here { font-weight: 600; color: var(--text); }
.content { flex: 1 1 auto; min-width: 0; max-width: 56rem; padding: 2rem 0 5rem; overflow-wrap: break-word; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.45rem; line-height: 1.3; margin: 2.4rem 0 .7rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.13rem; margin: 1.8rem 0 .5rem; }
h4, h5, h6 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
.abstract { font-size: 1.15rem; color: var(--soft); margin: 0 0 1.4rem; }
.kind, .note { color: var(--soft); font-size: .9rem; margin: 0 0 .3rem; }
.label { font-weight: 600; margin: 1rem 0 .2rem; }
.label + p { margin-top: 0; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .87em; }
:not(pre) > code { background: var(--code); border-radius: 4px; padding: .1em .2em; }
h1 > code, h2 > code, h3 > code, h4 > code, h5 > code, h6 > code { background: none; padding: 0; font-size: .92em; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto;
  line-height: 1.5; font-size: .84rem; }
pre.declaration { white-space: pre-wrap; margin: .4rem 0 .7rem; padding: .55rem .9rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .92rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); }
th { border-bottom-width: 2px; }
td p { margin: 0; }
img { display: block; max-width: 100%; height: auto; margin: 1.4rem 0; border-radius: 8px; }
aside { background: var(--mark); border-left: 4px solid var(--edge); border-radius: 4px; margin: 1rem 0;
  padding: .5rem 1rem; }
aside p { margin: .2rem 0; }
dl { margin: .3rem 0 1rem; }
dt { margin-top: .4rem; }
dd { margin: 0 0 0 1.4rem; }
dd p { margin: 0; }
.member { margin: 0 0 2rem; padding-left: 1rem; border-left: 2px solid var(--line); }
.topics li { margin: .35rem 0; }
.topics { padding-left: 1.2rem; }
@media (max-width: 60rem) { .frame { flex-direction: column; gap: 0; } .content { padding-bottom: 1rem; }
  nav { order: 1; position: static; max-height: none; flex: none; border-top: 1px solid var(--line); }
  nav li { display: inline-block; margin-right: .8rem; } nav li ul { display: none; } }
"""

# DocC's headings of the parts that a page has without them.
SILENT_HEADINGS = ("Overview", "Discussion")


def escape(text):
    return html.escape(text, quote=False)


def attribute(text):
    return html.escape(text, quote=True)


def number_headings(node):
    """Gives the second of two equal headings of a node an anchor of its own; DocC gives both the same."""
    content = [block for section in node.get("primaryContentSections", []) for block in section.get("content", [])]
    counts = collections.Counter()
    for heading in [block for block in content if block["type"] == "heading"] + node.get("topicSections", []):
        if "anchor" in heading:
            counts[heading["anchor"]] += 1
            if counts[heading["anchor"]] > 1:
                heading["anchor"] += f"-{counts[heading['anchor']]}"


class Archive:
    """A DocC archive: its nodes by URL, and where each of them stands in the plain copy."""

    def __init__(self, site):
        self.site = site
        self.nodes = {}
        for path in sorted((site / "data" / "documentation").rglob("*.json")):
            node = json.loads(path.read_text())
            self.nodes["/" + str(path.relative_to(site / "data").with_suffix(""))] = node
            number_headings(node)
        self.root = min(self.nodes, key=len)

    def role(self, url):
        return self.nodes[url]["metadata"].get("role")

    def names(self, url):
        """The names on the way from the module to a node, in their own spelling."""
        return self.nodes[url]["identifier"]["url"].split("/")[5:]

    def is_article(self, url):
        return self.nodes[url]["kind"] == "article" and url.count("/") == self.root.count("/") + 1

    def page(self, url):
        """The page that shows a node, as a path in the copy, and the node's anchor on it, or an empty string."""
        names = self.names(url)
        if not names:
            return "index.html", ""
        if self.is_article(url):
            return f"{names[0]}.html", ""
        top = self.root + "/" + url[len(self.root) + 1 :].split("/")[0]
        if self.nodes[top]["metadata"].get("symbolKind") in ("func", "op", "var"):
            return "symbols/functions.html", "/".join(names)
        return f"symbols/{names[0]}.html", "/".join(names[1:])


class Page:
    """One page of the copy: turns the blocks of its nodes into HTML, with links relative to the page."""

    def __init__(self, archive, path):
        self.archive = archive
        self.path = path
        self.up = "../" * path.count("/")
        self.references = {}
        self.shown = set()

    def href(self, url):
        """The relative link to a URL of the archive."""
        path, _, fragment = url.partition("#")
        page, anchor = self.archive.page(path)
        anchor = fragment or anchor
        link = "" if page == self.path and anchor else self.up + urllib.parse.quote(page)
        return link + ("#" + urllib.parse.quote(anchor) if anchor else "")

    def link(self, identifier, title=None):
        """A link to what an identifier stands for; plain text if it is outside of the archive."""
        reference = self.references.get(identifier)
        if reference is None:
            return escape(title or identifier)
        if reference["type"] == "link":
            shown = title or self.inline(reference.get("titleInlineContent", [])) or escape(reference["title"])
            return f'<a href="{attribute(reference["url"])}">{shown}</a>'
        shown = title or escape(reference["title"])
        if reference.get("kind") == "symbol" and title is None:
            shown = f"<code>{shown}</code>"
        if "url" not in reference:
            return shown
        return f'<a href="{attribute(self.href(reference["url"]))}">{shown}</a>'

    # Inline content.

    def inline(self, parts):
        return "".join(self.inline_part(part) for part in parts)

    def inline_part(self, part):
        kind = part["type"]
        if kind == "text":
            return escape(part["text"])
        if kind == "codeVoice":
            return f"<code>{escape(part['code'])}</code>"
        if kind == "reference":
            title = part.get("overridingTitle")
            if "overridingTitleInlineContent" in part:
                title = self.inline(part["overridingTitleInlineContent"])
            return self.link(part["identifier"], title)
        if kind == "image":
            return self.image(part["identifier"])
        tags = {
            "strong": "strong", "emphasis": "em", "newTerm": "dfn", "inlineHead": "strong",
            "strikethrough": "s", "subscript": "sub", "superscript": "sup",
        }
        return f"<{tags[kind]}>{self.inline(part['inlineContent'])}</{tags[kind]}>"

    def image(self, identifier):
        reference = self.references[identifier]
        name = reference["variants"][0]["url"].rsplit("/", 1)[-1]
        return f'<img src="{self.up}images/{urllib.parse.quote(name)}" alt="{attribute(reference.get("alt") or "")}">'

    # Blocks.

    def blocks(self, blocks):
        return "\n".join(self.block(block) for block in blocks)

    def block(self, block):
        kind = block["type"]
        if kind == "paragraph":
            return f"<p>{self.inline(block['inlineContent'])}</p>"
        if kind == "heading":
            anchor = attribute(block["anchor"])
            if block["text"] in SILENT_HEADINGS:
                return f'<div id="{anchor}"></div>'
            return f'<h{block["level"]} id="{anchor}">{escape(block["text"])}</h{block["level"]}>'
        if kind == "codeListing":
            return f"<pre><code>{escape(chr(10).join(block['code']))}</code></pre>"
        if kind == "aside":
            name = block.get("name") or block["style"].capitalize()
            if block["style"] == "note" and name != "Note":
                # "Throws", "Complexity" and the like, which are no warnings.
                return f'<p class="label">{escape(name)}</p>\n{self.blocks(block["content"])}'
            return f'<aside><p class="label">{escape(name)}</p>\n{self.blocks(block["content"])}</aside>'
        if kind in ("unorderedList", "orderedList"):
            tag = "ul" if kind == "unorderedList" else "ol"
            start = f' start="{block["start"]}"' if block.get("start", 1) != 1 else ""
            items = "\n".join(f"<li>{self.cell(item['content'])}</li>" for item in block["items"])
            return f"<{tag}{start}>\n{items}\n</{tag}>"
        if kind == "termList":
            items = "\n".join(
                f"<dt>{self.inline(item['term']['inlineContent'])}</dt>\n"
                f"<dd>{self.blocks(item['definition']['content'])}</dd>"
                for item in block["items"]
            )
            return f"<dl>\n{items}\n</dl>"
        if kind == "table":
            return self.table(block)
        if kind == "thematicBreak":
            return "<hr>"
        raise ValueError(f"{self.path}: unknown block {kind}")

    def cell(self, blocks):
        """Blocks in a cell or list item, where a single paragraph needs no tag."""
        if len(blocks) == 1 and blocks[0]["type"] == "paragraph":
            return self.inline(blocks[0]["inlineContent"])
        return self.blocks(blocks)

    def table(self, block):
        rows = []
        for row_number, row in enumerate(block["rows"]):
            cells = []
            for column, content in enumerate(row):
                is_head = (row_number == 0 and block["header"] in ("row", "both")) or (
                    column == 0 and block["header"] in ("column", "both")
                )
                tag = "th" if is_head else "td"
                cells.append(f"<{tag}>{self.cell(content)}</{tag}>")
            # A table without titles has an empty first row in Markdown.
            if row_number > 0 or any(content for content in row):
                rows.append(f"<tr>{''.join(cells)}</tr>")
        return '<div class="scroll"><table>\n' + "\n".join(rows) + "\n</table></div>"

    # Nodes.

    def tokens(self, tokens):
        shown = []
        for token in tokens:
            text = escape(token["text"])
            reference = self.references.get(token.get("identifier"))
            if reference and "url" in reference:
                text = f'<a href="{attribute(self.href(reference["url"]))}">{text}</a>'
            shown.append(text)
        return "".join(shown)

    def sections(self, node, in_article):
        """A node's sections after its title: the declaration, the abstract, and what follows."""
        declarations, rest = [], []
        for section in node.get("primaryContentSections", []):
            kind = section["kind"]
            if kind == "declarations":
                for declaration in section["declarations"]:
                    tokens = self.tokens(declaration["tokens"])
                    declarations.append(f'<pre class="declaration"><code>{tokens}</code></pre>')
            elif kind == "parameters":
                items = "\n".join(
                    f"<dt><code>{escape(parameter['name'])}</code></dt>\n<dd>{self.blocks(parameter['content'])}</dd>"
                    for parameter in section["parameters"]
                )
                rest.append(f'<p class="label">Parameters</p>\n<dl>\n{items}\n</dl>')
            elif kind == "content":
                rest.append(self.blocks(section["content"]) if in_article else self.discussion(section["content"]))
            elif kind == "mentions":
                mentions = ", ".join(self.link(identifier) for identifier in section["mentions"])
                rest.append(f'<p class="note">Mentioned in: {mentions}</p>')
            else:
                raise ValueError(f"{self.path}: unknown section {kind}")
        if "deprecationSummary" in node:
            declarations.append(f'<p class="label">Deprecated</p>\n{self.blocks(node["deprecationSummary"])}')
        if node.get("abstract"):
            tag = '<p class="abstract">' if in_article else "<p>"
            declarations.append(f"{tag}{self.inline(node['abstract'])}</p>")
        return "\n".join(declarations + rest)

    def discussion(self, blocks):
        """The text of a symbol, whose headings are labels: the page's headings are the symbols."""
        shown = []
        for block in blocks:
            if block["type"] != "heading":
                shown.append(self.block(block))
            elif block["text"] not in SILENT_HEADINGS:
                shown.append(f'<p class="label">{escape(block["text"])}</p>')
        return "\n".join(shown)

    def relationships(self, node):
        lines = []
        for section in node.get("relationshipsSections", []):
            names = ", ".join(self.link(identifier).removeprefix("Swift.") for identifier in section["identifiers"])
            lines.append(f'<p class="note">{escape(section["title"])}: {names}</p>')
        return "\n".join(lines)

    def topics(self, node, level=2):
        """Links to the nodes that a node lists as its topics."""
        shown = []
        for section in node.get("topicSections", []):
            title = section.get("title") or "Topics"
            anchor = f' id="{attribute(section["anchor"])}"' if "anchor" in section else ""
            shown.append(f"<h{level}{anchor}>{escape(title)}</h{level}>\n<ul class=\"topics\">")
            for identifier in section["identifiers"]:
                reference = self.references.get(identifier)
                if reference is None:
                    continue
                abstract = self.inline(reference.get("abstract", []))
                shown.append(f"<li>{self.link(identifier)}{': ' + abstract if abstract else ''}</li>")
            shown.append("</ul>")
        return "\n".join(shown)

    def article(self, url):
        node = self.archive.nodes[url]
        self.references = node["references"]
        title = escape(node["metadata"]["title"])
        return f"<h1>{title}</h1>\n{self.sections(node, in_article=True)}\n{self.topics(node)}"

    def symbol(self, url, level=1):
        """A symbol and, below it, its members. A symbol that is listed twice is shown once."""
        if url in self.shown:
            return ""
        self.shown.add(url)
        node = self.archive.nodes[url]
        self.references = node["references"]
        title, metadata = node["metadata"]["title"], node["metadata"]
        _, anchor = self.archive.page(url)
        heading = min(level, 6)
        name = f"<code>{escape(title)}</code>" if node["kind"] == "symbol" else escape(title)
        place = f' id="{attribute(anchor)}"' if anchor else ""
        shown = [f"<h{heading}{place}>{name}</h{heading}>"]
        if level == 1 and metadata.get("roleHeading"):
            shown.insert(0, f'<p class="kind">{escape(metadata["roleHeading"])}</p>')
        shown += [self.sections(node, in_article=False), self.relationships(node)]
        children = self.children(node)
        members = []
        for title, urls in children:
            group = [part for part in (self.symbol(child, level + 2) for child in urls) if part]
            if group:
                members.append(f"<h{min(level + 1, 6)}>{escape(title)}</h{min(level + 1, 6)}>\n" + "\n".join(group))
        shown += members
        body = "\n".join(part for part in shown if part)
        return body if level == 1 else f'<section class="member">\n{body}\n</section>'

    def children(self, node):
        """The titles and URLs of a symbol's members; articles that it lists are pages of their own."""
        found = []
        for section in node.get("topicSections", []) + node.get("defaultImplementationsSections", []):
            urls = []
            for identifier in section["identifiers"]:
                url = node["references"].get(identifier, {}).get("url")
                if url in self.archive.nodes and self.archive.page(url)[0] == self.path:
                    urls.append(url)
            if urls:
                found.append((section.get("title") or "Topics", urls))
        return found

    def whole(self, title, content, navigation):
        """The page with its frame."""
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<div class="frame">
<nav>
{navigation}
</nav>
<main class="content">
{content}
</main>
</div>
</body>
</html>
"""


def navigation(archive, page, groups, sections):
    """The column beside a page: all articles, and under the page's own article its sections."""
    root = archive.nodes[archive.root]["metadata"]["title"]
    shown = [f'<a class="home" href="{page.href(archive.root)}">{escape(root)}</a>']
    for title, urls in groups:
        shown.append(f'<p class="group">{escape(title)}</p>\n<ul>')
        for url in urls:
            name = escape(archive.nodes[url]["metadata"]["title"])
            if archive.page(url)[0] != page.path:
                shown.append(f'<li><a href="{attribute(page.href(url))}">{name}</a></li>')
                continue
            inner = "".join(
                f'<li><a href="#{urllib.parse.quote(anchor)}">{escape(text)}</a></li>' for anchor, text in sections
            )
            shown.append(f'<li><span class="here">{name}</span>{f"<ul>{inner}</ul>" if inner else ""}</li>')
        shown.append("</ul>")
    return "\n".join(shown)


def article_sections(node):
    """The anchors and texts of an article's uppermost headings, among which the overview's parts count."""
    found = []
    level = 2
    for section in node.get("primaryContentSections", []):
        for block in section.get("content", []):
            if block["type"] != "heading" or block["level"] > level:
                continue
            if block["text"] in SILENT_HEADINGS:
                level = 3
                continue
            if block["level"] == 2:
                level = 2
            found.append((block["anchor"], block["text"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=pathlib.Path, required=True, help="the DocC archive")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder for the pages, which is made")
    arguments = parser.parse_args()

    archive = Archive(arguments.site)
    root = archive.nodes[archive.root]
    module = root["metadata"]["title"]
    (arguments.output / "symbols").mkdir(parents=True)

    groups = []
    for section in root["topicSections"]:
        urls = [root["references"][identifier]["url"] for identifier in section["identifiers"]]
        articles = [url for url in urls if archive.is_article(url)]
        if articles:
            groups.append((section["title"], articles))

    def write(path, title, content, page, sections=()):
        text = page.whole(title, content, navigation(archive, page, groups, sections))
        (arguments.output / path).write_text(text)

    page = Page(archive, "index.html")
    write("index.html", module, page.article(archive.root), page)

    pages = {}
    for url in archive.nodes:
        if url != archive.root:
            pages.setdefault(archive.page(url)[0], []).append(url)
    for path, urls in pages.items():
        page = Page(archive, path)
        top = min(urls, key=lambda url: url.count("/"))
        node = archive.nodes[top]
        title = node["metadata"]["title"]
        if archive.is_article(top):
            write(path, f"{title} · {module}", page.article(top), page, article_sections(node))
            continue
        if path == "symbols/functions.html":
            title = "Functions"
            content = "<h1>Functions</h1>\n" + "\n".join(page.symbol(url, level=3) for url in sorted(urls))
        else:
            content = page.symbol(top)
        # Members that no list names still have a place.
        for url in sorted(urls):
            content += page.symbol(url, level=3)
        write(path, f"{title} · {module}", content, page)

    shutil.copytree(arguments.site / "images" / module, arguments.output / "images")


if __name__ == "__main__":
    main()
