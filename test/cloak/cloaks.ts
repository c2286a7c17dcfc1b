import type { Cloak } from './cloak.ts'
import { code } from './code.ts'
import { containers } from './containers.ts'
import { encodings } from './encodings.ts'
import { letters } from './letters.ts'
import { markup } from './markup.ts'
import { places } from './places.ts'

/** All cloaks by kind. */
export const cloaks: Readonly<Record<string, readonly Cloak[]>> = {
  encodings,
  letters,
  markup,
  code,
  containers,
  places,
}
