import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryApi } from '@skillstead/protocol'
import { toPathInGit } from '@skillstead/skill-format/archives'

/** Content and mode of a file, so that a difference can be read: text as such, other bytes as base64. */
export type Arrived = Record<string, { readonly content: string; readonly executable: boolean }>

const allBytes = Buffer.from(Uint8Array.from({ length: 1024 }, (_, i) => i % 256))
const utf16 = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('Text\r\n', 'utf16le')])

/** What clients change or lose, if they change or lose anything: bytes, line ends, modes, names. */
const contents: Record<string, { bytes: Buffer; executable?: boolean }> = {
  'scripts/run.sh': { bytes: Buffer.from('#!/bin/sh\necho hi\n'), executable: true },
  'scripts/lib.py': { bytes: Buffer.from('#!/usr/bin/env python3\n') },
  'bin/tool': { bytes: Buffer.concat([Buffer.from('\x7fELF'), allBytes]), executable: true },
  'assets/all.bin': { bytes: allBytes },
  'assets/ends.txt': { bytes: Buffer.from('one\r\ntwo\nthree\r') },
  'assets/utf16.txt': { bytes: utf16 },
  'assets/empty.txt': { bytes: Buffer.alloc(0) },
  '.config/settings.json': { bytes: Buffer.from('{}') },
  '資料/übersicht.md': { bytes: Buffer.from('Übersicht\n') },
  'with space.txt': { bytes: Buffer.from('A space.\n') },
}

/** Names that only some clients read. */
const readByClients: Record<string, { bytes: Buffer; executable?: boolean }> = {
  '.gitattributes': { bytes: Buffer.from('* text eol=crlf ident\n*.bin filter=lfs\n') },
  '.gitignore': { bytes: Buffer.from('assets\n') },
  '.npmignore': { bytes: Buffer.from('scripts\n') },
}

const toWholeSkillMd = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Carries files ${name} to every client\n---\r\n# ${name}\n${more}`

/** Publishes a skill with all these files. */
export async function publishWhole(api: RegistryApi, name: string, version = '1.0.0'): Promise<void> {
  const files = Object.entries({ ...contents, ...readByClients }).map(([path, { bytes, executable = false }]) => {
    return { path, content: bytes.toString('base64'), encoding: 'base64' as const, executable }
  })
  await api.publishSkill({ skillMd: toWholeSkillMd(name, version), version, files })
}

/** What arrives of that skill in a client that changes nothing. */
export function toWhole(name: string, version = '1.0.0'): Arrived {
  const skillMd = { bytes: Buffer.from(toWholeSkillMd(name, version)) }
  return toArrived({ 'SKILL.md': skillMd, ...contents, ...readByClients })
}

/** As {@link toWhole}, in a clone. */
export function toWholeInGit(name: string, version?: string): Arrived {
  return Object.fromEntries(Object.entries(toWhole(name, version)).map(([path, file]) => [toPathInGit(path), file]))
}

/** As {@link toWhole}, without modes: all files are as executable as SKILL.md is. */
export function withoutModes(files: Arrived): Arrived {
  return Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, { content, executable: false }]))
}

/** Reads a folder, except these top-level entries. */
export async function readArrived(folder: string, except: readonly string[] = []): Promise<Arrived> {
  const files: Parameters<typeof toArrived>[0] = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const place = join(entry.parentPath, entry.name)
    const path = place.slice(folder.length + 1).normalize('NFC')
    if (!entry.isFile() || except.includes(path.split('/')[0]!)) continue
    files[path] = { bytes: await readFile(place), executable: ((await stat(place)).mode & 0o111) !== 0 }
  }
  return toArrived(files)
}

function toArrived(files: Record<string, { bytes: Buffer; executable?: boolean }>): Arrived {
  const entries = Object.entries(files).map(([path, { bytes, executable = false }]) => {
    const text = bytes.toString()
    const content = Buffer.from(text).equals(bytes) ? text : bytes.toString('base64')
    return [path, { content, executable }] as const
  })
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
