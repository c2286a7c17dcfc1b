import { intoFiles, onBody, wrap, type Cloak } from './cloak.ts'
import type { Random } from '../support/random.ts'

/** Commands and programs whose names a shell reads in many spellings. */
const commandPattern =
  /\b(?:curl|wget|bash|python3?|node|chmod|crontab|ssh|scp|cat|eval|exec|base64|npm|npx|pip|nc|sudo|tar|env|printenv|git)\b/g

const onCommands = (name: string, about: string, rewrite: (word: string, random: Random) => string): Cloak =>
  onBody(name, about, (body, random) => body.replace(commandPattern, (word) => rewrite(word, random)))

const middle = (word: string, inside: string) => word.slice(0, 1) + inside + word.slice(1)
const base64 = (text: string) => Buffer.from(text).toString('base64')
const hex = (text: string) => Buffer.from(text).toString('hex')
const script = (path: string, text: string) => ({
  cover: `Run \`${path}\` first.`,
  files: [{ path, text }],
})
const pieces = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
const quote = (text: string) => JSON.stringify(text)

/** The spellings of commands that a shell reads as the same, and texts that a program puts together. */
export const code: readonly Cloak[] = [
  onCommands('empty quotes', '`c""url`', (word) => middle(word, '""')),
  onCommands('empty single quotes', "`c''url`", (word) => middle(word, "''")),
  onCommands('quoted letters', '`\'c\'"u"rl`', (word) => `'${word[0]}'"${word[1]}"${word.slice(2)}`),
  onCommands('backslashes', String.raw`c\url`, (word) => middle(word, '\\')),
  onCommands('empty parameters', '`c$@url`', (word) => middle(word, '$@')),
  onCommands('empty expansions', '`c${x}url`', (word) => middle(word, '${x}')),
  onCommands('carets', '`c^url`, as in cmd.exe', (word) => middle(word, '^')),
  onCommands('back ticks', '`` c`url ``, as in PowerShell', (word) => middle(word, '`')),
  onCommands('line continuations', 'a backslash and a line end in each command', (word) => middle(word, '\\\n')),
  onCommands('paths', '`/usr/bin/curl`', (word) => `/usr/bin/${word}`),
  onCommands('patterns', '`/usr/bin/c?rl`', (word) => `/usr/bin/${word[0]}?${word.slice(2)}`),
  onCommands('ANSI C quotes', String.raw`$'\x63url'`, (word) => `$'\\x${hex(word[0]!)}${word.slice(1)}'`),
  onCommands('printed', '`$(printf cu)rl`', (word) => `$(printf ${word.slice(0, 2)})${word.slice(2)}`),
  onBody('field separators', '`curl${IFS}-s`', (body) => body.replace(/(?<=`[^`\n]*) (?=[^`\n]*`)/g, '${IFS}')),
  onBody('braces', '`{curl,-s,url}`', (body) =>
    body.replace(
      /(?<=`)(?:curl|wget|bash|sh|cat|chmod)\b[^`\n|;&]*/g,
      (all) => `{${all.trim().split(/\s+/).join(',')}}`,
    ),
  ),
  intoFiles('shell variables', 'each command in two variables', (body) =>
    script(
      'scripts/setup.sh',
      `#!/bin/sh\n${body.replace(commandPattern, (word) => `\${A_${word.slice(0, 1)}}${word.slice(1)}`).replace(/^/, [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `A_${letter}=${letter}\n`).join(''))}`,
    ),
  ),
  intoFiles('joined strings', 'a Python string from pieces of eight characters', (body) =>
    script('scripts/setup.py', `import os\ntext = (${pieces(body, 8).map(quote).join(' + ')})\nos.system(text)\n`),
  ),
  intoFiles('joined lines', 'a Python string from pieces on lines of their own', (body) =>
    script(
      'scripts/setup.py',
      `import os\ntext = (\n${pieces(body, 30)
        .map((piece) => `    ${quote(piece)}\n`)
        .join('')})\nos.system(text)\n`,
    ),
  ),
  intoFiles('added to a variable', 'a JavaScript string that grows line by line', (body) =>
    script(
      'scripts/setup.js',
      `let s = ''\n${pieces(body, 12)
        .map((piece) => `s += ${quote(piece)}\n`)
        .join('')}require('child_process').execSync(s)\n`,
    ),
  ),
  intoFiles('list of strings', 'a JavaScript list that is joined', (body) =>
    script(
      'scripts/setup.js',
      `const s = ${JSON.stringify(pieces(body, 6))}.join('')\nrequire('child_process').execSync(s)\n`,
    ),
  ),
  intoFiles('character codes', 'a JavaScript list of character codes', (body) =>
    script('scripts/setup.js', `const s = String.fromCharCode(${[...Buffer.from(body)].join(',')})\neval(s)\n`),
  ),
  intoFiles('chained chr', 'Python characters one by one', (body) =>
    script('scripts/setup.py', `exec(${[...Buffer.from(body)].map((byte) => `chr(${byte})`).join('+')})\n`),
  ),
  intoFiles('reversed string', 'a Python string that is reversed', (body) =>
    script('scripts/setup.py', `import os\nos.system(${quote([...body].toReversed().join(''))}[::-1])\n`),
  ),
  intoFiles('XOR with a byte', 'a hexadecimal literal and a key of one byte', (body) =>
    script(
      'scripts/setup.py',
      `data = bytes.fromhex("${Buffer.from(Buffer.from(body).map((byte) => byte ^ 0x5a)).toString('hex')}")\nexec("".join(chr(b ^ 0x5a) for b in data))\n`,
    ),
  ),
  intoFiles('XOR with a word', 'a base64 literal and a key of several bytes', (body) => {
    const key = Buffer.from('s3cr3t')
    const data = Buffer.from(Buffer.from(body).map((byte, at) => byte ^ key[at % key.length]!))
    return script(
      'scripts/setup.py',
      `import base64\nkey = b"s3cr3t"\ndata = base64.b64decode("${data.toString('base64')}")\nexec(bytes(b ^ key[i % len(key)] for i, b in enumerate(data)))\n`,
    )
  }),
  intoFiles('replaced marks', 'a mark in each word, which the script takes out', (body) =>
    script(
      'scripts/setup.py',
      `import os\nos.system(${quote(body.replace(/([A-Za-z])([A-Za-z])/g, '$1@@$2'))}.replace("@@", ""))\n`,
    ),
  ),
  intoFiles('here document of base64', 'a shell script with base64 in a here document', (body) =>
    script('scripts/setup.sh', `#!/bin/sh\nbase64 -d <<'EOF' | sh\n${wrap(base64(body))}\nEOF\n`),
  ),
  intoFiles('here document of hex', 'a shell script with hex in a here document', (body) =>
    script('scripts/setup.sh', `#!/bin/sh\nxxd -r -p <<'EOF' | sh\n${wrap(hex(body))}\nEOF\n`),
  ),
  intoFiles('base64 in variables', 'base64 in several variables of a shell script', (body) => {
    const parts = pieces(base64(body), 48)
    return script(
      'scripts/setup.sh',
      `#!/bin/sh\n${parts.map((part, i) => `p${i}="${part}"\n`).join('')}echo "${parts.map((_, i) => `$p${i}`).join('')}" | base64 -d | sh\n`,
    )
  }),
  intoFiles('octal printf', 'a shell script that prints octal escapes', (body) =>
    script(
      'scripts/setup.sh',
      `#!/bin/sh\nprintf '${[...Buffer.from(body)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}' | sh\n`,
    ),
  ),
]
