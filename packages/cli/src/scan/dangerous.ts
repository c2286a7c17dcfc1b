import { flag, type Arguments, type Options } from '../command/command.ts'

/** Option to accept skills that the scanner rates dangerous. */
export const dangerousOption: Options = {
  'allow-dangerous': { help: 'accept skills that the scanner rates dangerous; read its findings first' },
}

/** Throws for versions that the scanner rates dangerous, unless the caller passed --allow-dangerous. */
export function refuseDangerous(given: Arguments, names: readonly string[], advice: string): void {
  if (names.length === 0 || flag(given, 'allow-dangerous')) return
  throw new Error(`The scanner rates ${names.join(', ')} as dangerous. ${advice}`)
}
