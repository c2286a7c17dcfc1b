import { statSync } from 'node:fs'
import { planNames, toOneLine } from '@skillstead/protocol'
import * as v from 'valibot'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'
import { readOptionFile } from '../command/values.ts'
import { readVariable } from '../terminal/io.ts'

/** The option that names a configuration file. */
export const configOption: Options = {
  config: {
    value: 'FILE',
    help: 'a TOML file with settings: these options and further ones, see docs/configuration.md',
  },
}

/** The types of settings, by what the documentation calls them. A string has the form of the option's value. */
const Text = v.string('must be a string')
const Flag = v.boolean('must be true or false')
const Count = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.integer('must be an integer'))], 'must be an integer'),
  v.transform((count) => `${count}`),
)
const List = v.pipe(
  v.union([v.string(), v.array(v.string())], 'must be a string or an array of strings'),
  v.transform((list) => [list].flat().join(',')),
)
const Table = v.pipe(
  v.union([v.string(), v.record(v.string(), v.number())], 'must be a string or a table of integers'),
  v.transform((table) =>
    typeof table === 'string'
      ? table
      : Object.entries(table)
          .map(([name, count]) => `${name}=${count}`)
          .join(','),
  ),
)

/** Every setting of a configuration file with its type. The names are those of the options of `serve`. */
export const settings = {
  port: Count,
  host: Text,
  data: Text,
  'database-url': Text,
  'database-read-url': Text,
  blobs: Text,
  'blobs-endpoint': Text,
  'rate-limits': Table,
  'connection-limits': Table,
  'trusted-proxies': List,
  origin: Text,
  'public-url': Text,
  'tls-cert': Text,
  'tls-key': Text,
  'cors-origins': List,
  gateways: List,
  'discovery-pack': Text,
  'site-name': Text,
  'site-text': Text,
  'site-logo': Text,
  'metrics-token': Text,
  'metrics-token-file': Text,
  'allow-networks': List,
  ca: Text,
  network: Text,
  'private-names': List,
  'embeddings-url': Text,
  'embeddings-model': Text,
  'embeddings-key-file': Text,
  'embeddings-timeout': Count,
  'smtp-url': Text,
  'mail-from': Text,
  'second-opinion-url': Text,
  'second-opinion-key-file': Text,
  'second-opinion-timeout': Count,
  'second-opinion-budget': Count,
  'second-opinion-scores': Text,
  'second-opinion-clears': Flag,
  'sign-in-issuer': Text,
  'sign-in-client': Text,
  'sign-in-secret-file': Text,
  'sign-in-groups': List,
  'local-sign-in': v.picklist(['on', 'off'], 'must be on or off'),
  'default-plan': v.picklist(planNames, `must be one of ${planNames.join(', ')}`),
  'webhook-off-after': Count,
  'scan-policy': List,
  'storage-quota': Text,
  'backup-every': Text,
  'backups-max': Count,
  private: Flag,
  'record-installers': Flag,
  'audit-log': Text,
  'json-logs': Flag,
}

type Values = Arguments['options']

/** Alternative settings: if the command line or the environment sets one, the alternatives in the file are ignored. */
const alternatives = [
  ['data', 'database-url'],
  ['metrics-token', 'metrics-token-file'],
]
const secrets = ['database-url', 'database-read-url', 'metrics-token', 'smtp-url']

/** What `read` returned, the arguments that it read, and a warning for the operator. */
interface Configured<T> {
  readonly given: Arguments
  readonly result: T
  readonly warning?: string | undefined
}

/**
 * Calls `read` with the arguments and, for `options` that neither the arguments nor the environment set, the settings
 * of the configuration file. Throws {@link UsageError}; the error of a setting names the file and the setting.
 */
export async function withConfigFile<T>(
  given: Arguments,
  options: object,
  read: (given: Arguments) => Promise<T>,
): Promise<Configured<T>> {
  const file = textOption(given, 'config')
  if (file === undefined) return { given, result: await read(given) }
  const values = await readSettings(file, options)
  const used = Object.keys(values).filter((name) => !isGiven(given, name))
  const withSettings = (names: readonly string[]): Arguments => {
    const added = Object.fromEntries(names.map((name) => [name, values[name]]))
    return { ...given, options: { ...given.options, ...added } }
  }
  const all = withSettings(used)
  try {
    return { given: all, result: await read(all), warning: findWarning(file, values) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const works = (names: readonly string[]) => read(withSettings(names)).then(Boolean, () => false)
    for (const name of used)
      if (await works(used.filter((other) => other !== name))) throw toConfigFileError(file, name, error.message)
    throw (await works([])) ? new UsageError(`${toOneLine(file)}: ${error.message}`) : error
  }
}

async function readSettings(file: string, options: object): Promise<Values> {
  const document = await parseConfigFile(file, readOptionFile(file))
  const unknown = Object.keys(document).find((name) => !Object.hasOwn(settings, name) || !Object.hasOwn(options, name))
  if (unknown !== undefined)
    throw toConfigFileError(
      file,
      unknown,
      'this is not a setting of this command. docs/configuration.md lists the settings',
    )
  const parsed = v.safeParse(v.partial(v.object(settings)), document)
  if (parsed.success) return parsed.output
  const [{ path, message }] = parsed.issues
  throw toConfigFileError(file, String(path?.[0]?.key), message)
}

function toConfigFileError(file: string, place: string, message: string): UsageError {
  return new UsageError(`${toOneLine(file)}, ${toOneLine(place)}: ${message.replace(/\.$/, '')}.`)
}

async function parseConfigFile(file: string, written: string): Promise<object> {
  const { parse: parseToml, TomlError } = await import('smol-toml')
  try {
    return parseToml(written)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n')
    throw toConfigFileError(file, `line ${error.line}`, `this is not TOML: ${toOneLine(reason)}`)
  }
}

/** Whether the command line or the environment sets the option, or an alternative of it. */
function isGiven({ options, io }: Arguments, name: string): boolean {
  const names = alternatives.find((group) => group.includes(name)) ?? [name]
  return names.some(
    (one) =>
      options[one] !== undefined || (one === 'database-url' && readVariable(io.env, 'DATABASE_URL') !== undefined),
  )
}

/**
 * A warning if other users can read a file with secrets. It is no error, because the mode of a file that a container
 * mounts cannot always be changed.
 */
function findWarning(file: string, values: Values): string | undefined {
  const secret = secrets.find((name) => values[name] !== undefined)
  if (secret === undefined || process.platform === 'win32' || (statSync(file).mode & 0o004) === 0) return undefined
  return `All users of this machine can read ${toOneLine(file)}, which contains ${secret}. Run: chmod o-r ${toOneLine(file)}`
}
