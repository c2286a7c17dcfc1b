import * as v from 'valibot'
import { limits } from '../limits.ts'
import { namePattern } from '../names.ts'
import { isVersion } from '../versions.ts'
import { toVisibleText } from '../visible-text.ts'

/** ISO 8601 in UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`. */
export const Timestamp = v.pipe(v.string(), v.isoTimestamp())
export const Id = v.pipe(v.string(), v.uuid())
/** `sha256:` and 64 lower-case hexadecimal digits. */
export const Digest = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hexadecimal digits'))
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

export const Version = v.pipe(
  v.string(),
  v.check(isVersion, 'must be three dot-separated whole numbers such as 1.4.0, without leading zeros'),
)
/** The version to read. Default: `latest`, which may also be sent. */
export const ReadVersion = v.optional(
  v.union(
    [
      v.pipe(
        v.literal('latest'),
        v.transform((): string | undefined => undefined),
      ),
      Version,
    ],
    'must be `latest`, or three dot-separated whole numbers such as 1.4.0, without leading zeros',
  ),
)
export const SkillName = v.pipe(
  v.string(),
  v.maxLength(limits.skillNameCharactersMax),
  v.regex(namePattern, 'must be lower-case letters, digits and single inner hyphens'),
)
export const Username = v.pipe(
  v.string(),
  v.maxLength(limits.usernameCharactersMax),
  v.regex(namePattern, 'must be lower-case letters, digits and single inner hyphens'),
)

/**
 * A skill in a path or a list: `owner/name`, or a short name, which means the caller's own skill of that name, or else
 * the first public skill.
 */
export const SkillRef = boundedText(128)

/** URL of a user's picture. */
export const AvatarUrl = v.pipe(
  v.string(),
  v.description(
    'Absolute where the node knows its address: from --public-url, a trusted proxy, or a Host that is an address or ' +
      'localhost. Otherwise, and in-process, a path on the node.',
  ),
)

/** A text to look up or compare: any text that SQLite and PostgreSQL accept. */
export const Term = boundedText(1024, 0)

/** Text in a range of lengths, without NUL characters, and without lone surrogates, which UTF-8 cannot encode. */
export function boundedText(charactersMax: number, charactersMin = 1) {
  return v.pipe(
    v.string(),
    v.minLength(charactersMin),
    v.maxLength(charactersMax),
    v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
    v.check((value) => !value.includes('\0'), 'must not contain NUL characters'),
  )
}

/** Text that people and agents read: like {@link boundedText}, but invisible characters are removed. */
export function readableText(charactersMax: number, charactersMin = 1) {
  return v.pipe(
    boundedText(charactersMax, charactersMin),
    v.transform(toVisibleText),
    v.check((value) => value.length >= charactersMin, 'must contain visible characters'),
  )
}

/** A whole number, which may also be sent as the text of a query parameter. */
export function wholeNumber(min: number, max: number) {
  return v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))], 'must be a whole number'),
    v.integer('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  )
}

/** `true` or `false`, which may also be sent as the text of a query parameter. */
export const Flag = v.union(
  [
    v.boolean(),
    v.pipe(
      v.picklist(['true', 'false']),
      v.transform((value) => value === 'true'),
    ),
  ],
  'must be true or false',
)

/**
 * A list of at most `itemsMax` items. Valibot validates every item, and creates an issue for each invalid one, before
 * the actions of a pipe check the length; a hostile list would fill the memory. So the length is checked first, and too
 * many items are one issue.
 */
export function boundedArray<const Item extends v.GenericSchema>(item: Item, itemsMax: number, itemsMin = 0) {
  const tooMany = v.maxLength<unknown[], number>(itemsMax)
  const schema = v.pipe(v.array(item), v.minLength(itemsMin), v.maxLength(itemsMax))
  const runItems = schema['~run']
  const run: typeof runItems = (dataset, config) => {
    const { value } = dataset
    if (!Array.isArray(value) || value.length <= itemsMax) return runItems(dataset, config)
    return tooMany['~run']({ typed: true, value }, config) as ReturnType<typeof runItems>
  }
  return Object.assign(schema, { '~run': run })
}

/** An object of at most `entriesMax` entries. As for {@link boundedArray}, too many entries are a single issue. */
export function boundedRecord<const Name extends v.GenericSchema<string, string>, const Value extends v.GenericSchema>(
  name: Name,
  value: Value,
  entriesMax: number,
) {
  const tooMany = v.maxEntries<Record<string, unknown>, number>(entriesMax)
  const schema = v.pipe(v.record(name, value), v.maxEntries(entriesMax))
  const runEntries = schema['~run']
  const run: typeof runEntries = (dataset, config) => {
    const given = dataset.value
    if (typeof given !== 'object' || given === null || Object.keys(given).length <= entriesMax)
      return runEntries(dataset, config)
    return tooMany['~run']({ typed: true, value: given as Record<string, unknown> }, config) as ReturnType<
      typeof runEntries
    >
  }
  return Object.assign(schema, { '~run': run })
}

/** A list, which may also be sent as one comma-separated query parameter. */
export function commaList(itemsMax: number) {
  return v.union(
    [
      boundedArray(Term, itemsMax),
      v.pipe(
        boundedText(listCharactersMax, 0),
        v.transform((value) => value.split(',').map((item) => item.trim())),
        v.maxLength(itemsMax),
      ),
    ],
    `must be a comma-separated list of at most ${listCharactersMax} characters`,
  )
}

/**
 * Maximum characters of a comma-separated list: servers and proxies accept URLs of about 8 KiB, and a non-ASCII byte
 * takes three characters in a URL.
 */
const listCharactersMax = 4096

export const page = v.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER), 1)

export function pageLimit(initial = 20, max: number = limits.pageSizeMax) {
  return v.optional(wholeNumber(1, max), initial)
}

/** Fields that every paged list has. */
export const pageFields = { total: Count, page: v.pipe(v.number(), v.integer(), v.minValue(1)), totalPages: Count }

/** The output of an operation without a body (204). */
export const NoContent = v.undefined()

/** Bytes with a media type; see `Content`. */
export const ContentBody = v.custom<import('../endpoint.ts').Content>(
  (value) => typeof value === 'object' && value !== null && 'contentType' in value && 'body' in value,
)
