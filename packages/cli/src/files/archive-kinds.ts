import { UsageError } from '../command/command.ts'

const archive = /\.(?:zip|skill|tar|tgz|tbz2?|txz|tzst|gz|bz2|xz|zst|7z|rar)$/i

/**
 * Throws {@link UsageError} for a file with the extension of an archive, unless it is one of `endings`, such as `.zip`.
 */
export function refuseOtherArchives(path: string, endings: readonly string[]): void {
  if (!archive.test(path) || endings.some((ending) => path.toLowerCase().endsWith(ending))) return
  throw new UsageError(
    `${path} is an archive of an unsupported kind. Use ${endings.join(', ').replace(/, (?=[^ ]+$)/, ' or ')}.`,
  )
}
