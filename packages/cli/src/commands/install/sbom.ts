import { statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { compareFiles } from '@skillstead/protocol'
import { inspectAccess, scanPackage } from '@skillstead/scanner'
import { parseSkillMd, readCapabilities, readRequires, readSkillFields } from '@skillstead/skill-format'
import {
  type ArchiveFile,
  decodeText,
  isExecutable,
  toDigest,
  toVersionDigest,
} from '@skillstead/skill-format/archives'
import type { SkillBill, UnreadSkill } from '@skillstead/skill-format/sbom'
import { UsageError, command, textOption } from '../../command/command.ts'
import { cacheFolder, configFile, homeFolder } from '../../files/config.ts'
import { readSkillFolder } from '../../files/read-skill-folder.ts'
import { writeWhole } from '../../files/write-whole.ts'
import { openCache, type PackageCache } from '../../install/cache.ts'
import { readFolderState } from '../../install/folder-state.ts'
import { toTargetPath, type Place } from '../../install/install-place.ts'
import { readLock, type LockedSkill } from '../../install/lock.ts'
import type { Environment } from '../../terminal/io.ts'

export const commands = {
  sbom: command({
    description:
      'Write the bill of materials (CycloneDX 1.6) of the skill in a folder, or of the skills in a skills.lock: files, ' +
      'declared packages, access and scan verdict. Needs no registry and no network.',
    words: ['[FOLDER]'],
    options: {
      lock: { value: 'FILE', help: 'the skills.lock of a project, instead of FOLDER' },
      out: { value: 'FILE', help: 'the file to write. Default: standard output' },
    },
    isExact: true,
    async run(given): Promise<{ readonly bomFormat: string } | { readonly file: string }> {
      const [folder] = given.words
      const [lock, out] = [textOption(given, 'lock'), textOption(given, 'out')]
      if ((folder === undefined) === (lock === undefined))
        throw new UsageError('Pass the FOLDER of a skill, or --lock FILE for the skills of a project.')
      const text = folder === undefined ? await writeLockSbom(lock!, given.io.env) : await writeFolderSbom(folder)
      if (out === undefined) return JSON.parse(text)
      writeWhole(resolve(out), text)
      return { file: out }
    },
    show: (result) => ('file' in result ? [`Wrote ${result.file}.`] : JSON.stringify(result, null, 2).split('\n')),
  }),
}

async function writeFolderSbom(folder: string): Promise<string> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${folder} is not a folder.`)
  const { skillMd, files } = await readSkillFolder(folder, 'Pass the folder of one of them.')
  const { writeSkillSbom } = await import('@skillstead/skill-format/sbom')
  const { name, nameSlug, version } = readSkillFields(parseSkillMd(skillMd))
  const known = { name: name ?? nameSlug ?? basename(resolve(folder)), version }
  return writeSkillSbom(await toBill([{ path: 'SKILL.md', bytes: Buffer.from(skillMd) }, ...files], known))
}

async function writeLockSbom(file: string, env: Environment): Promise<string> {
  if (basename(file) !== 'skills.lock' || !statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${file} is not the skills.lock of a project. Pass the path of a skills.lock that exists.`)
  const root = dirname(resolve(file))
  const isGlobal = root === dirname(configFile('skills.lock', env))
  const place: Place = { isGlobal, root: isGlobal ? homeFolder(env) : root, lockFolder: root, env }
  const cache = openCache(cacheFolder(env))
  const { writeProjectSbom } = await import('@skillstead/skill-format/sbom')
  const bills: (SkillBill | UnreadSkill)[] = []
  for (const [name, skill] of Object.entries((await readLock(root, { anywhere: isGlobal })).skills)) {
    const { version, digest, source, requires = {} } = skill
    const content = (await cache.find(digest)) ?? (await findInstalled(place, skill, cache))
    const reason = 'Its content is not here, or was changed. Run `skillstead install`.'
    if (!content) {
      bills.push({ name, version, digest, reason })
      continue
    }
    const bill = await toBill(content, { name, version, source })
    // The lock has the full names of the required skills.
    const skills = Object.entries(requires).map(([required, range]) => ({ name: required, range }))
    bills.push({ ...bill, requires: { ...bill.requires!, skills } })
  }
  return writeProjectSbom(bills)
}

/** The files of an installed version, from a folder in which they are unchanged. */
async function findInstalled(place: Place, { targets, digest }: LockedSkill, cache: PackageCache) {
  for (const target of targets) {
    const state = await readFolderState(toTargetPath(place, target), [digest], cache)
    if (state.kind === 'version' && state.digest === digest) return state.files
  }
  return undefined
}

/** The bill of a skill, from what its files show. */
async function toBill(
  unsorted: readonly ArchiveFile[],
  known: Pick<SkillBill, 'name' | 'version' | 'source'>,
): Promise<SkillBill> {
  const { readDeclaredPackages } = await import('@skillstead/skill-format/sbom')
  const files = unsorted.toSorted(compareFiles)
  const parsed = parseSkillMd(decodeText(files[0]!.bytes))
  const { description, license } = readSkillFields(parsed)
  const declared = await readDeclaredPackages(files.map(({ path, bytes }) => ({ path, read: () => bytes })))
  const { requires, refusals, warnings } = readRequires(parsed)
  const faults = [...refusals, ...warnings].map(({ message }) => ({ path: 'SKILL.md', reason: message }))
  const listed = files.map((file) => {
    const { path, bytes } = file
    return { path, size: bytes.length, digest: toDigest(bytes), executable: isExecutable(file) }
  })
  return {
    ...known,
    description,
    license,
    digest: toVersionDigest(files),
    files: listed,
    declared: { ...declared, unread: [...declared.unread, ...faults] },
    security: await scanPackage(files, Date.now()),
    access: await inspectAccess(files),
    capabilities: readCapabilities(parsed),
    requires,
  }
}
