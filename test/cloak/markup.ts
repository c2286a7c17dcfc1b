import { mapWords, onBody, putInside, type Cloak } from './cloak.ts'

const inside = (text: string) => (body: string) => mapWords(body, 3, (word) => putInside(word, text))
const around = (before: string, after: string) => (body: string) =>
  mapWords(body, 3, (word) => `${before}${word.slice(0, 2)}${after}${word.slice(2)}`)
/** The text in one line without marks that would end an attribute or a title. */
const flat = (body: string) => body.replace(/["<>\r\n]+/g, ' ')
/** The text without blank lines and marks that would end a title. */
const titled = (body: string) => body.replace(/\n\s*\n/g, '\n').replace(/["<>()[\]]+/g, ' ')

/** Markdown and HTML in and around the text. */
export const markup: readonly Cloak[] = [
  onBody('HTML tags in words', '`<b>ig</b>nore`', around('<b>', '</b>')),
  onBody(
    'HTML tags with attributes in words',
    '`<span class="a">ig</span>nore`',
    around('<span class="a">', '</span>'),
  ),
  onBody('empty HTML tags in words', '`igno<wbr>re`', inside('<wbr>')),
  onBody('HTML comments in words', '`igno<!-- a -->re`', inside('<!-- a -->')),
  onBody('empty HTML comments in words', '`igno<!---->re`', inside('<!---->')),
  onBody('emphasis in words', '`ig**no**re`', (body) =>
    mapWords(body, 4, (word) => `${word.slice(0, 2)}**${word.slice(2, 4)}**${word.slice(4)}`),
  ),
  onBody('HTML comment', 'the text in a comment', (body) => `<!--\n${body.replaceAll('-->', '')}\n-->\n`),
  onBody(
    'details',
    'the text in a closed element',
    (body) => `<details><summary>Notes</summary>\n\n${body}\n</details>\n`,
  ),
  onBody(
    'hidden element',
    'the text in an element without display',
    (body) => `<div style="display:none">\n${body}\n</div>\n`,
  ),
  onBody('white text', 'white text', (body) => `<span style="color:#fff;background:#fff">\n${body}\n</span>\n`),
  onBody('tiny text', 'text of no size', (body) => `<font size="1" style="font-size:0px">\n${body}\n</font>\n`),
  onBody('hidden attribute', 'an element with the attribute hidden', (body) => `<div hidden>\n${body}\n</div>\n`),
  onBody(
    'text off the page',
    'an element far left of the page',
    (body) => `<div style="position:absolute;left:-9999px">\n${body}\n</div>\n`,
  ),
  onBody('alternative text', 'the alternative text of an image', (body) => `![${titled(body)}](logo.png)\n`),
  onBody('link title', 'the title of a link', (body) => `[Guide](guide.md "${titled(body)}")\n`),
  onBody('attribute', 'the attribute of an element', (body) => `<img src="logo.png" alt="${flat(body)}">\n`),
  onBody('data attribute', 'an attribute for programs', (body) => `<span data-note="${flat(body)}"></span>\n`),
  onBody(
    'meta element',
    'the content of a meta element',
    (body) => `<meta name="description" content="${flat(body)}">\n`,
  ),
  onBody('link definition', 'a Markdown comment: a link that is never used', (body) =>
    body
      .trim()
      .split('\n')
      .map((line) => `[//]: # (${line.replace(/[()]/g, ' ')})`)
      .join('\n'),
  ),
  onBody(
    'link definition with a title',
    'the title of a link that is never used',
    (body) => `[note]: https://example.org "${titled(body)}"\n`,
  ),
  onBody(
    'footnote',
    'a footnote that nothing refers to',
    (body) => `[^1]: ${body.trim().replaceAll('\n', '\n    ')}\n`,
  ),
  onBody('template', 'an element that is not rendered', (body) => `<template>\n${body}\n</template>\n`),
  onBody('CDATA', 'a section of XML', (body) => `<![CDATA[\n${body}\n]]>\n`),
  onBody('comments of C in words', '`igno/**/re`', inside('/**/')),
  onBody('quote marks', 'each line as a quote of a quote', (body) => body.replace(/^/gm, '> > ')),
  onBody('padding', 'after a hundred thousand line ends', (body) => `Fine.${'\n'.repeat(100_000)}${body}`),
  onBody('long padding', 'after a hundred thousand words', (body) => `${'word '.repeat(100_000)}\n\n${body}`),
]
