"""check-links.py --catalogue FOLDER --site SITE --pages PAGES: checks the links of the documentation, for tools/docs.

In the plain pages every link and image must lead to a file of the copy, and every anchor to an element of that page. In
DocC's site a page is a tree in data/**/*.json and a shell in documentation/**/index.html: every reference of a tree
must lead to a page that has both, and to a heading of it; every image and every part of a shell must exist. The
catalogue is checked for image descriptions that run over a line break, of which DocC keeps the first line only. Links to
other hosts must have a host and no white space; they are not followed. Prints every fault, and exits 1 if there is any.
"""
import argparse
import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

MULTILINE_IMAGE = re.compile(r"!\[[^\]\n]*\n[^\]]*\]\(([^)\s]*)\)")


class Faults:
    def __init__(self):
        self.lines = set()
        self.checked = 0

    def expect(self, holds, where, what):
        self.checked += 1
        if not holds:
            self.lines.add(f"{where}: {what}")


def is_web_link(link):
    parts = urllib.parse.urlsplit(link)
    return parts.scheme in ("http", "https")


def check_web_link(faults, where, link):
    host = urllib.parse.urlsplit(link).hostname or ""
    is_sound = re.fullmatch(r"[A-Za-z0-9.-]+", host) and not re.search(r"\s|[<>\"]", link)
    faults.expect(is_sound, where, f"not a link to another host: {link}")


class Links(html.parser.HTMLParser):
    """The ids of a page, and what it links to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.twice, self.links = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                (self.twice if value in self.ids else self.ids).add(value)
            elif name in ("href", "src"):
                self.links.append(value or "")
            elif tag == "meta" and name == "content" and "url=" in (value or ""):
                self.links.append(value.split("url=", 1)[1])


def check_pages(faults, folder):
    parsed = {path.resolve(): Links(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    faults.expect(len(parsed) > 1, folder, "there are no pages")
    for path, page in parsed.items():
        where = path.relative_to(folder.resolve())
        for name in sorted(page.twice):
            faults.expect(False, where, f"two elements have the id {name}")
        for link in page.links:
            if is_web_link(link):
                check_web_link(faults, where, link)
                continue
            parts = urllib.parse.urlsplit(link)
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            is_inside = not parts.scheme and not parts.netloc and target.is_relative_to(folder.resolve())
            faults.expect(is_inside and target.is_file(), where, f"nothing at {link}")
            if parts.fragment and target in parsed:
                anchor = urllib.parse.unquote(parts.fragment)
                faults.expect(anchor in parsed[target].ids, where, f"no such place: {link}")


def nested(tree, kind):
    """All objects of a type in a tree of DocC's."""
    if isinstance(tree, dict):
        if tree.get("type") == kind:
            yield tree
        for value in tree.values():
            yield from nested(value, kind)
    elif isinstance(tree, list):
        for value in tree:
            yield from nested(value, kind)


def check_site(faults, site):
    trees = {}
    for path in sorted((site / "data").rglob("*.json")):
        trees["/" + str(path.relative_to(site / "data").with_suffix("")).lower()] = json.loads(path.read_text())
    faults.expect(len(trees) > 1, site, "there are no pages")
    anchors = {}
    for url, tree in trees.items():
        anchors[url] = {heading["anchor"] for heading in nested(tree.get("primaryContentSections", []), "heading")}
        for sections in ("topicSections", "seeAlsoSections"):
            anchors[url] |= {section["anchor"] for section in tree.get(sections, []) if "anchor" in section}

    def check_url(where, url):
        path, _, anchor = urllib.parse.unquote(url).partition("#")
        path = path.rstrip("/").lower()
        faults.expect(path in trees, where, f"no page {url}")
        faults.expect((site / path[1:] / "index.html").is_file(), where, f"no HTML for the page {url}")
        if anchor:
            faults.expect(anchor in anchors.get(path, ()), where, f"no such heading: {url}")

    for url, tree in trees.items():
        references = tree.get("references", {})
        for reference in references.values():
            if reference["type"] == "link":
                # DocC leaves a relative link as it is, and its pages then lead nowhere.
                faults.expect(is_web_link(reference["url"]), url, f"neither a page nor a web link: {reference['url']}")
                if is_web_link(reference["url"]):
                    check_web_link(faults, url, reference["url"])
            elif reference["type"] in ("image", "video", "download", "file"):
                for variant in reference.get("variants", [reference]):
                    faults.expect((site / variant["url"].lstrip("/")).is_file(), url, f"no file {variant['url']}")
            elif "url" in reference:
                check_url(url, reference["url"])
        content = [tree.get("abstract", []), tree.get("primaryContentSections", [])]
        for part in nested(content, "reference"):
            target = references.get(part["identifier"], {})
            is_link = part.get("isActive", True) and target.get("type") not in (None, "unresolvable")
            faults.expect(is_link, url, f"unresolved link to {part['identifier']}")
        for part in nested(content, "image"):
            faults.expect(part["identifier"] in references, url, f"no image {part['identifier']}")
        listed = [section["identifiers"] for section in tree.get("topicSections", [])]
        for identifier in sum(listed, []):
            faults.expect(identifier in references, url, f"lists what there is not: {identifier}")

    def check_index(items):
        for item in items:
            if "path" in item and not item.get("external"):
                check_url("index/index.json", item["path"])
            check_index(item.get("children", []))

    for items in json.loads((site / "index" / "index.json").read_text())["interfaceLanguages"].values():
        check_index(items)

    for shell in sorted(site.rglob("index.html")):
        where = shell.relative_to(site)
        for link in Links(shell.read_text()).links:
            parts = urllib.parse.urlsplit(link)
            base = site if parts.path.startswith("/") else shell.parent
            target = base / urllib.parse.unquote(parts.path).lstrip("/")
            faults.expect(not parts.scheme and target.exists(), where, f"nothing at {link}")


def check_catalogue(faults, catalogue):
    for path in sorted(catalogue.glob("*.md")):
        for image in MULTILINE_IMAGE.finditer(path.read_text()):
            faults.expect(False, path.name, f"the description of {image[1]} has a line break; DocC would cut it there")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("catalogue", "site", "pages"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    faults = Faults()
    check_catalogue(faults, arguments.catalogue)
    check_site(faults, arguments.site)
    check_pages(faults, arguments.pages)
    for line in sorted(faults.lines):
        print(line)
    print(f"{faults.checked} links and images checked, {len(faults.lines)} broken")
    return 1 if faults.lines else 0


if __name__ == "__main__":
    sys.exit(main())
