import type { Unreadable } from '@skillstead/skill-format/archives'
import { readEnclosing } from './enclosing-skills.ts'
import { openSamples, type SampleOptions } from './samples.ts'
import type { Sample } from './sample.ts'
import type { ScanRequest } from './scan-options.ts'

/** Opens places that are no paths, such as URLs; undefined for paths. */
export type OpenPlace = (place: string) => AsyncIterable<Sample | Unreadable> | undefined

/** The samples of all places of a request. A place that cannot be read does not affect the others. */
export async function* openAll(
  { places, isEnclosing }: Pick<ScanRequest, 'places' | 'isEnclosing'>,
  options: SampleOptions,
  openPlace: OpenPlace = refuseUrl,
): AsyncGenerator<Sample | Unreadable> {
  if (isEnclosing) return yield* readEnclosing(places, options)
  for (const place of places) yield* openOne(place, () => openPlace(place) ?? openSamples(place, options))
}

async function* openOne(
  place: string,
  open: () => AsyncIterable<Sample | Unreadable>,
): AsyncGenerator<Sample | Unreadable> {
  let isEmpty = true
  try {
    for await (const sample of open()) {
      isEmpty = false
      yield sample
    }
  } catch (error) {
    return yield { id: place, reason: toReason(place, error) }
  }
  if (isEmpty) yield { id: place, reason: 'It contains no skills.' }
}

/** The message of an error, without the place at its start, which is printed before it. */
function toReason(place: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.startsWith(`${place} `) ? `It${message.slice(place.length)}` : message
}

function refuseUrl(place: string): undefined {
  if (/^https?:\/\//i.test(place))
    throw new Error('This command uses no network. Save the file, or use `skillstead scan URL`.')
}
