import { flag, type Arguments, type Options } from '../command/command.ts'

/** Option to accept skills that the scanner rates dangerous. */
export const dangerousOption: Options = {
  'allow-dangerous': { help: 'accept skills that the scanner rates dangerous; read its findings first' },
}

/** Thrown for versions that the scanner rates dangerous. */
export class DangerousError extends Error {}

/** Throws {@link DangerousError} for versions that the scanner rates dangerous, unless the caller passed --allow-dangerous. */
export function refuseDangerous(given: Arguments, names: readonly string[], advice: string): void {
  if (names.length === 0 || flag(given, 'allow-dangerous')) return
  throw new DangerousError(`The scanner rates ${names.join(', ')} as dangerous. ${advice}`)
}
