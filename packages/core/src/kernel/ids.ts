import { uuidv7 } from 'uuidv7'

/** Creates an id: a UUIDv7, which sorts by creation time. */
export function newId(): string {
  return uuidv7()
}
