import { posix } from 'node:path'
import { type FoundPackages, type PackageScope, quote } from './found-packages.ts'

/** Reads one requirement of Python (PEP 508): `name[extra] >=1; marker`, or `name @ URL`. */
export function readRequirement(line: string, found: FoundPackages, scope?: PackageScope): void {
  const [, name, rest = ''] = /^([\w.-]+)\s*(?:\[[^\]]*\])?(.*)$/s.exec(line.trim()) ?? []
  // The marker of an address follows a space, because a semicolon can be part of the address.
  const [range = ''] = rest.split(rest.trimStart().startsWith('@') ? /\s;/ : ';', 1)
  if (name === undefined || !/^\s*(?:$|[<>=!~@(])/.test(range))
    found.addUnread(`${quote(line)} is no requirement of a package.`)
  else found.add('pypi', name, range.trim(), scope)
}

/** Reads the lines of a requirements.txt. `isRead`: whether an included file is read separately. */
export function readRequirements(
  text: string,
  found: FoundPackages,
  path: string,
  isRead: (path: string) => boolean,
): void {
  for (const line of text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const written = line.replace(/(?:^|\s)#.*$/, '').trim()
    if (written === '') continue
    const [, option, value = ''] = /^(--?[\w-]+)[\s=]*(.*)$/.exec(written) ?? []
    if (option === undefined) readRequirement(written.replace(/\s--.*$/, ''), found)
    else if (/^(?:-r|--requirement)$/.test(option)) {
      if (!isRead(posix.join(posix.dirname(path), value)))
        found.addUnread(`${quote(value)}, which it includes, was not read.`)
    } else if (/^(?:-e|--editable|-c|--constraint|--find-links|-f|--(?:extra-)?index-url|-i)$/.test(option))
      found.addUnread(`The option ${quote(written)} was not applied.`)
  }
}

/**
 * The TOML of a metadata block (PEP 723), between `# /// script` and `# ///`; undefined if the text is no such block.
 */
export function toScriptMetadata(block: string): string | undefined {
  const [, content] = /^# \/\/\/ script\s*\n((?:#(?: [^\n]*)?\n)*)# \/\/\/\s*$/.exec(block) ?? []
  return content?.replaceAll(/^# ?/gm, '')
}

/** Reads the modules that a go.mod requires. */
export function readGoMod(text: string, found: FoundPackages): void {
  let block: string | undefined
  for (const line of text.split(/\r?\n/)) {
    const words = line
      .replace(/\/\/.*$/, '')
      .replace('(', ' (')
      .trim()
      .split(/\s+/)
    const [first = ''] = words
    if (first === '') continue
    if (first === ')') block = undefined
    else if (words[1] === '(') block = first
    else {
      const [verb, name = '', version] = block === undefined ? words : [block, ...words]
      if (verb === 'require') found.add('golang', name.replaceAll('"', ''), version)
      else if (verb === 'replace' || verb === 'exclude')
        found.addUnread(`The directive ${quote([verb, name].join(' '))} was not applied.`)
    }
  }
}
