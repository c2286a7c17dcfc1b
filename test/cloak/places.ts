import type { ScanFile } from '@skillstead/scanner'
import { intoFiles, type Cloak } from './cloak.ts'

const toName = (line: string) => line.replace(/[/\\:\0]/g, ' ').trim()
const linesOf = (body: string) => body.split('\n').filter((line) => /\w/.test(line))

/** Cuts a text in the middle of each of its longer lines. */
function cutLines(body: string): string[] {
  const lines = linesOf(body)
  const halves = lines.flatMap((line) => {
    const middle = line.indexOf(' ', line.length >> 1)
    return middle === -1 || line.length < 30 ? [[line]] : [[line.slice(0, middle)], [line.slice(middle + 1)]]
  })
  const parts = ['']
  for (const [half] of halves) {
    parts[parts.length - 1] += half!
    parts.push('')
  }
  return parts.filter(Boolean)
}

const indent = (body: string, by: string) => body.replace(/^/gm, by)

/** A cloak in the front matter of SKILL.md, whose other text is kept. */
function inFrontMatter(name: string, about: string, write: (body: string) => string): Cloak {
  return {
    name,
    about,
    apply: (files) =>
      files.map((file): ScanFile => {
        if (file.path !== 'SKILL.md' || !('text' in file)) return file
        const body = file.text.replace(/^---\r?\n[^]*?\n---\r?\n/, '')
        return {
          path: 'SKILL.md',
          text: `---\nname: guide\ndescription: Reads files.\n${write(body)}\n---\n\n# Guide\n\nRead files.\n`,
        }
      }),
  }
}

/** The text in names, in several files, and in the YAML of the front matter. */
export const places: readonly Cloak[] = [
  intoFiles('file names', 'each line is the name of a file', (body) => ({
    cover: 'Do what the names of the files say.',
    files: linesOf(body).map((line) => ({ path: `notes/${toName(line)}.md`, text: 'Read the name.\n' })),
  })),
  intoFiles('file names with hyphens', 'each line is the name of a file, with hyphens for spaces', (body) => ({
    cover: 'Do what the names of the files say.',
    files: linesOf(body).map((line) => ({
      path: `notes/${toName(line).replaceAll(' ', '-')}.md`,
      text: 'Read the name.\n',
    })),
  })),
  intoFiles('two files', 'every second line in the other file', (body) => {
    const lines = linesOf(body)
    return {
      cover: 'Read `notes/a.md` and `notes/b.md` line by line in turn.',
      files: [0, 1].map((which) => ({
        path: `notes/${'ab'[which]}.md`,
        text: lines.filter((_, at) => at % 2 === which).join('\n'),
      })),
    }
  }),
  intoFiles('halves of sentences', 'each file begins and ends within a sentence', (body) => {
    const parts = cutLines(body)
    const paths = parts.map((_, at) => `notes/${String(at + 1).padStart(2, '0')}.md`)
    return {
      cover: `Read ${paths.map((path) => `\`${path}\``).join(', ')} as one text.`,
      files: parts.map((text, at) => ({ path: paths[at]!, text })),
    }
  }),
  intoFiles('halves of commands', 'a script in parts that are put together', (body) => {
    const parts = cutLines(body)
    const paths = parts.map((_, at) => `parts/${String(at + 1).padStart(2, '0')}.txt`)
    return {
      cover: 'Run `cat parts/*.txt > run.sh; sh run.sh`.',
      files: parts.map((text, at) => ({ path: paths[at]!, text })),
    }
  }),
  inFrontMatter('YAML block', 'a literal block', (body) => `notes: |\n${indent(body, '  ')}`),
  inFrontMatter(
    'YAML quoted',
    'a quoted text with escapes for its spaces',
    (body) => `notes: ${JSON.stringify(body).replaceAll(' ', '\\x20')}`,
  ),
  inFrontMatter(
    'YAML merge',
    'a mapping that others merge',
    (body) => `base: &base\n  notes: ${JSON.stringify(body)}\nuse:\n  <<: *base`,
  ),
  inFrontMatter('YAML comment', 'comments', (body) => indent(body, '# ')),
]
