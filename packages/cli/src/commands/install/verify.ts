import { writeFileSync } from 'node:fs'
import { verifyProvenance, type ContentFile } from '@skillstead/client/verify'
import { parseProvenance, type Provenance, type RegistryApi, toOneLine, toErrorText } from '@skillstead/protocol'
import { fromPathInGit, isGitAttributes, readBytes } from '@skillstead/skill-format/archives'
import { UsageError, command, textOption, type Arguments } from '../../command/command.ts'
import { globalOption } from '../../install/install-place.ts'
import { showInstalledReport, verifyInstalled } from '../../install/verify-installed.ts'
import { findUrl, storeOptions } from '../../registry/place.ts'
import type { Output } from '../../terminal/output.ts'
import { readContentAt, readZipContent } from '../../verify/content.ts'
import { readFollowedKeys, readNodeKeys, withNode } from '../../verify/node.ts'
import { findKnownKeys, keepKnownKeys, knownKeysFile, readGivenKeys } from '../../verify/read-keys.ts'
import { readRecordFile } from '../../verify/read-record.ts'
import { showVerification, toVerification, type Verification } from '../../verify/report.ts'

export const commands = {
  verify: command({
    description:
      'Without an argument: verify that the installed skills match skills.lock. With one: verify who published a skill and when, that the log of its node contains it and the last results of evaluations, and that its content is what was published. ' +
      'With the FILE of a saved record it needs no network. Write ./FILE if the file name looks like a skill name.',
    words: ['[FILE|NAME]'],
    options: {
      version: { value: 'VERSION', help: 'the version. Default: the latest' },
      key: {
        value: 'VKEY',
        help: 'the public key of the node, or a file with it. Default: the key pinned on first use',
      },
      content: {
        value: 'PATH',
        help: 'the content to verify: a folder, a zip or a SKILL.md. Default for a NAME: the content on the node',
      },
      save: { value: 'FILE', help: 'with a NAME: save the record to FILE' },
      url: { value: 'URL', help: 'a running node' },
      'api-key': { value: 'KEY', help: 'the API key for the node (or SKILLSTEAD_KEY)', env: 'SKILLSTEAD_KEY' },
      ...globalOption,
      ...storeOptions,
    },
    async run(given, output) {
      const [word] = given.words
      if (word === undefined) {
        refuseOptions(
          given,
          ['version', 'key', 'content', 'save', 'url', 'data', 'database-url'],
          'needs a FILE or NAME to verify',
        )
        return verifyInstalled(given, output)
      }
      return /^[a-z0-9-]+(?:\/[a-z0-9-]+)?$/.test(word) ? verifyName(given, word, output) : verifyFile(given, word)
    },
    show: (result) => ('installed' in result ? showInstalledReport(result) : showVerification(result)),
    hasFailed: ({ ok }) => !ok,
  }),
}

function refuseOptions(given: Arguments, options: readonly string[], why: string): void {
  const option = options.find((one) => textOption(given, one) !== undefined)
  if (option !== undefined) throw new UsageError(`--${option} ${why}.`)
}

async function verifyFile(given: Arguments, file: string): Promise<Verification> {
  refuseOptions(given, ['url', 'data', 'version', 'save'], 'is only for the NAME of a skill, not for a file')
  const key = textOption(given, 'key')
  if (key === undefined) throw new UsageError('The public key of the node is missing. Pass it with --key.')
  const [keys, path] = [readGivenKeys(key), textOption(given, 'content')]
  const content = path === undefined ? undefined : await readGivenContent(path)
  return toVerification(file, verifyContent(readRecordFile(file), keys, content))
}

async function verifyName(given: Arguments, name: string, output: Output): Promise<Verification> {
  const key = textOption(given, 'key')
  const stated = key === undefined ? undefined : readGivenKeys(key)
  return withNode(given, async (api, registry) => {
    const followed = registry ? await readFollowedKeys(registry) : []
    const { keys, remember } = stated ? { keys: stated } : await findKeys(given, api, followed, output)
    const record = await getRecord(given, api, name)
    const content = await readContentToVerify(given, api, name, record.version)
    const report = verifyContent(record, keys, content)
    // Do not pin a key that fails to verify its own node's record.
    if (report.ok) remember?.()
    return toVerification(name, report)
  })
}

/**
 * Verifies a record with its content and, if that fails, with the content under its published names: a copy of a folder
 * of an owner's repository lacks the `.gitattributes` that marks a clone from a node.
 */
function verifyContent(record: unknown, keys: readonly string[], content: readonly ContentFile[] | undefined) {
  const report = verifyProvenance(record, { keys, content })
  const published = content?.map(toPublished)
  if (report.ok || !published?.some(({ path }, i) => path !== content?.[i]?.path)) return report
  const copied = verifyProvenance(record, { keys, content: published })
  return copied.ok ? copied : report
}

/** The files under their published names, if the path is a clone from a node. */
async function readGivenContent(path: string): Promise<ContentFile[]> {
  const content = await readContentAt(path)
  const ofNode = content.find((file) => file.path === '.gitattributes' && isGitAttributes(file))
  return ofNode ? content.filter((file) => file !== ofNode).map(toPublished) : content
}

function toPublished(file: ContentFile): ContentFile {
  return { ...file, path: fromPathInGit(file.path) }
}

/** Gets a record. Refuses the record of another skill, which would also verify: scripts only read the exit code. */
async function getRecord(given: Arguments, api: RegistryApi, name: string): Promise<Provenance> {
  const [version, file] = [textOption(given, 'version'), textOption(given, 'save')]
  const record = await api.getProvenance({ name, version, evaluations: true })
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`)
  const { fullName } = parseProvenance(record).skill
  const isAsked = name.includes('/') ? fullName === name : fullName.endsWith(`/${name}`)
  if (isAsked && (version === undefined || record.version === version)) return record
  const asked = [name, version].filter((part) => part !== undefined).join('@')
  throw new Error(`The node returned ${toOneLine(`${fullName}@${record.version}`)}, but ${asked} was requested.`)
}

interface Trusted {
  readonly keys: readonly string[]
  /** Pins the keys; present only on the first use of a node. */
  readonly remember?: () => void
}

/**
 * For local files: the node's own keys and those of its upstreams. For a remote node: the pinned keys, or on first use
 * the keys of the node, which are then pinned.
 */
async function findKeys(
  given: Arguments,
  api: RegistryApi,
  followed: readonly string[],
  output: Output,
): Promise<Trusted> {
  const url = findUrl(given)
  const keys = await readNodeKeys(api)
  if (url === undefined) return { keys: [...keys, ...followed] }
  const file = knownKeysFile(given.io.env)
  const known = findKnownKeys(file, url)
  if (!known) return { keys, remember: () => pinKeysOnFirstUse(file, url, keys, output) }
  if (known.keys.some((one) => keys.includes(one))) {
    const next = keys.filter((one) => !known.keys.includes(one))
    if (next.length > 0)
      output.say(`${url} will change to the key ${next[0]}. Trust it with: skillstead key --url ${url} --pin`)
    return { keys: known.keys }
  }
  throw new Error(
    `The key of ${url} has changed: it is now ${keys[0]}; the key pinned on ${known.since.slice(0, 10)} was ${known.keys[0]}. ` +
      'Nothing from this node is trusted. Ask its operator over another channel; if the new key is theirs, ' +
      `trust it with: skillstead key --url ${url} --pin`,
  )
}

function pinKeysOnFirstUse(file: string, url: string, keys: readonly string[], output: Output): void {
  let outcome = `pinned in ${file}.`
  try {
    keepKnownKeys(file, url, { keys, since: new Date().toISOString() })
  } catch (error) {
    outcome = `not pinned: ${toErrorText(error)}`
  }
  output.say(`First use of ${url}: its key was trusted without a check and ${outcome}`)
  output.say(`Compare it with the key that its operator publishes: ${keys.join(' ')}`)
}

async function readContentToVerify(
  given: Arguments,
  api: RegistryApi,
  name: string,
  version: string,
): Promise<ContentFile[]> {
  const path = textOption(given, 'content')
  if (path !== undefined) return readGivenContent(path)
  return readZipContent(await readBytes(await api.getArchive({ name, version, allowRecalled: true })))
}
