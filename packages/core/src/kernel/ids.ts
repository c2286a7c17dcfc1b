import { uuidv7 } from 'uuidv7'

/** A new id: a UUIDv7, which sorts by the time it was made. */
export function newId(): string {
  return uuidv7()
}
