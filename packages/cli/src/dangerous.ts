import { flag, type Arguments, type Option } from './command.ts'

/** Confirms what the scanner warns of. */
export const dangerousOption: Record<string, Option> = {
  'allow-dangerous': { help: 'also what the scanner calls dangerous; read its findings first' },
}

/** Throws for versions that the scanner calls dangerous, unless the caller allowed them. */
export function refuseDangerous(given: Arguments, names: readonly string[], advice: string): void {
  if (names.length === 0 || flag(given, 'allow-dangerous')) return
  throw new Error(`The scanner calls ${names.join(', ')} dangerous. ${advice}`)
}
