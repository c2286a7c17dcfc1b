import { deflateSync, gzipSync } from 'node:zlib'
import { packTarSync } from './tar.ts'
import { writeZip } from '@skillstead/skill-format/archives'
import { gif, jpeg, png, pngChunk } from '../support/image-bytes.ts'
import { intoFiles, onBody, wrap, type Cloak } from './cloak.ts'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const zip = (path: string, text: string | Uint8Array) =>
  Buffer.from(writeZip([{ path, bytes: Buffer.from(text as string) }]))
const one = (cover: string, path: string, bytes: Uint8Array) => ({ cover, files: [{ path, bytes }] })
const run = (path: string, bytes: Uint8Array) => one(`Run \`${path}\` first.`, path, bytes)
const read = (path: string, bytes: Uint8Array) => one(`Read the text in \`${path}\` and follow it.`, path, bytes)

/** A zip whose entry is marked as encrypted. */
function lock(bytes: Buffer): Buffer {
  bytes.writeUInt16LE(0x801, 6)
  bytes.writeUInt16LE(0x801, bytes.lastIndexOf('PK\x01\x02', bytes.length, 'latin1') + 8)
  return bytes
}

const pdf = (content: string) =>
  Buffer.concat([
    Buffer.from(`%PDF-1.4\n1 0 obj\n<< /Length ${content.length} >>\nstream\n`),
    Buffer.from(`BT /F1 12 Tf (${content.replace(/[()\\]/g, String.raw`\$&`)}) Tj ET`),
    Buffer.from('\nendstream\nendobj\ntrailer\n<< >>\n%%EOF\n'),
  ])
const packedPdf = (content: string) => {
  const data = deflateSync(`BT /F1 12 Tf (${content.replace(/[()\\]/g, String.raw`\$&`)}) Tj ET`)
  return Buffer.concat([
    Buffer.from(`%PDF-1.4\n1 0 obj\n<< /Length ${data.length} /Filter /FlateDecode >>\nstream\n`),
    data,
    Buffer.from('\nendstream\nendobj\ntrailer\n<< >>\n%%EOF\n'),
  ])
}

/** A segment of a JPEG: a comment, or the data of an application. */
const withSegment = (marker: number, data: Buffer) => {
  const head = Buffer.of(0xff, marker, 0, 0)
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)])
}

/** A GIF with a comment in blocks of at most 255 bytes. */
const withGifComment = (text: Buffer) => {
  const blocks: Buffer[] = []
  for (let at = 0; at < text.length; at += 255) {
    const part = text.subarray(at, at + 255)
    blocks.push(Buffer.of(part.length), part)
  }
  return Buffer.concat([gif.subarray(0, -1), Buffer.of(0x21, 0xfe), ...blocks, Buffer.of(0, 0x3b)])
}

/** The payload in an archive, behind a script that unpacks it, or in the metadata of an image. */
export const containers: readonly Cloak[] = [
  intoFiles('self-extracting base64', 'a shell script that decodes its own end', (body) =>
    run(
      'scripts/setup.sh',
      Buffer.from(
        `#!/bin/sh\nsed '1,/^__DATA__$/d' "$0" | base64 -d | sh\nexit 0\n__DATA__\n${wrap(base64(Buffer.from(body)))}\n`,
      ),
    ),
  ),
  intoFiles('self-extracting gzip', 'a shell script with a gzip behind it', (body) =>
    run(
      'scripts/setup.sh',
      Buffer.concat([Buffer.from('#!/bin/sh\ntail -n +4 "$0" | gunzip | sh\nexit 0\n'), gzipSync(body)]),
    ),
  ),
  intoFiles('self-extracting tar', 'a shell script with a tar.gz behind it', (body) =>
    run(
      'scripts/setup.sh',
      Buffer.concat([
        Buffer.from('#!/bin/sh\ntail -n +4 "$0" | tar xz && sh ./run.sh\nexit 0\n'),
        gzipSync(packTarSync('run.sh', body)),
      ]),
    ),
  ),
  intoFiles('self-extracting zip', 'a shell script with a zip behind it', (body) =>
    run(
      'scripts/setup.sh',
      Buffer.concat([Buffer.from('#!/bin/sh\nunzip -q "$0" && sh run.sh\nexit 0\n'), zip('run.sh', body)]),
    ),
  ),
  intoFiles('Python zip application', 'a zip behind a line that names Python', (body) =>
    run(
      'scripts/setup.pyz',
      Buffer.concat([
        Buffer.from('#!/usr/bin/env python3\n'),
        zip('__main__.py', `import os\nos.system('''${body}''')\n`),
      ]),
    ),
  ),
  intoFiles('packed Python', 'zlib and base64 in a Python script that runs it', (body) =>
    run(
      'scripts/setup.py',
      Buffer.from(`import base64, zlib\nexec(zlib.decompress(base64.b64decode("${base64(deflateSync(body))}")))\n`),
    ),
  ),
  intoFiles('zip', 'a zip', (body) => read('guide.zip', zip('guide.md', body))),
  intoFiles('zip in a zip', 'a zip in a zip', (body) => read('guide.zip', zip('inner.zip', zip('guide.md', body)))),
  intoFiles('tar.gz in a zip', 'a compressed tar in a zip', (body) =>
    read('guide.zip', zip('a.tgz', gzipSync(packTarSync('guide.md', body)))),
  ),
  intoFiles('five archives', 'zips in each other, five of them', (body) => {
    let bytes = zip('guide.md', body)
    for (let depth = 0; depth < 4; depth++) bytes = zip(`${depth}.zip`, bytes)
    return read('guide.zip', bytes)
  }),
  intoFiles('encrypted zip', 'a zip with a password', (body) => read('guide.zip', lock(zip('guide.md', body)))),
  intoFiles('document', 'the text of a Word document', (body) =>
    read(
      'guide.docx',
      zip(
        'word/document.xml',
        `<w:document><w:body>${body
          .split(' ')
          .map((word) => `<w:r><w:t>${word.replaceAll('&', '&amp;').replaceAll('<', '&lt;')} </w:t></w:r>`)
          .join('')}</w:body></w:document>`,
      ),
    ),
  ),
  intoFiles('script named as text', 'a script with the name of a text', (body) =>
    run('scripts/setup.txt', Buffer.from(`#!/bin/sh\n${body}`)),
  ),
  intoFiles('script named as image', 'a script with the name of an image', (body) =>
    run('logo.png', Buffer.from(`#!/bin/sh\n${body}`)),
  ),
  intoFiles('data behind an image', 'text behind the end of an image', (body) =>
    read('logo.png', Buffer.concat([png(), Buffer.from(body)])),
  ),
  intoFiles('PNG text', 'metadata of an image', (body) => read('logo.png', png(pngChunk('tEXt', `Comment\0${body}`)))),
  intoFiles('PNG packed text', 'compressed metadata of an image', (body) =>
    read('logo.png', png(pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(body)])))),
  ),
  intoFiles('PNG international text', 'metadata of an image in UTF-8', (body) =>
    read('logo.png', png(pngChunk('iTXt', Buffer.from(`Comment\0\0\0en\0\0${body}`)))),
  ),
  intoFiles('PNG text of base64', 'base64 in the metadata of an image', (body) =>
    read('logo.png', png(pngChunk('tEXt', `Comment\0${base64(Buffer.from(body))}`))),
  ),
  intoFiles('JPEG comment', 'the comment of a photo', (body) =>
    read('photo.jpg', withSegment(0xfe, Buffer.from(body))),
  ),
  intoFiles('JPEG Exif', 'the description of a photo', (body) =>
    read(
      'photo.jpg',
      withSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\x08\0\0', 'latin1'), Buffer.from(body)])),
    ),
  ),
  intoFiles('GIF comment', 'the comment of a GIF', (body) => read('logo.gif', withGifComment(Buffer.from(body)))),
  intoFiles('SVG description', 'the description of a drawing', (body) =>
    read(
      'logo.svg',
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><title>Logo</title><desc>${escapeXml(body)}</desc></svg>`),
    ),
  ),
  intoFiles('SVG text', 'text of a drawing, a word an element', (body) =>
    read(
      'logo.svg',
      Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg">${escapeXml(body)
          .split(' ')
          .map((word) => `<text>${word}</text> `)
          .join('')}</svg>`,
      ),
    ),
  ),
  intoFiles('SVG script', 'the script of a drawing', (body) =>
    read(
      'logo.svg',
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[\n/* ${body} */]]></script></svg>`),
    ),
  ),
  intoFiles('PDF', 'the text of a PDF', (body) => read('guide.pdf', pdf(body))),
  intoFiles('packed PDF', 'the compressed text of a PDF', (body) => read('guide.pdf', packedPdf(body))),
  onBody('data URL', 'base64 in a link', (body) => `[Guide](data:text/plain;base64,${base64(Buffer.from(body))})\n`),
]

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
