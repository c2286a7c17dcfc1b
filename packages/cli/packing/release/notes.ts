/**
 * The section of a version in CHANGELOG.md, also while its heading is `Unreleased: VERSION`, without the heading.
 * Throws without such a section: a release without notes is a mistake.
 */
export function takeNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const found = sections.find(
    (section) =>
      section
        .split('\n', 1)[0]!
        .replace(/^Unreleased: /, '')
        .trim() === version,
  )
  const text = found?.slice(found.indexOf('\n')).trim()
  if (!text)
    throw new Error(`CHANGELOG.md has no section for ${version}. Add the heading '## ${version}' with its changes.`)
  return text
}

/** What a release contains, for its notes. */
export interface Contents {
  readonly version: string
  readonly changes: string
  /** The names of the executable files, one for each supported target. */
  readonly executables: readonly string[]
  /** Why a target has no executable file. */
  readonly unsupported: Readonly<Record<string, string>>
}

/** The text of a release's page. */
export function toReleaseNotes({ version, changes, executables, unsupported }: Contents): string {
  return `# Skillstead ${version}

${changes}

## Files

- One executable file each, which needs no Node: ${executables.map((name) => `\`${name}\``).join(', ')}.
${Object.entries(unsupported)
  .map(([target, reason]) => `- None for ${target}: ${reason}. Use the npm package there.\n`)
  .join(
    '',
  )}- The npm packages as tarballs, listed in \`PACKAGES\`; \`skillstead\` only runs the command of \`@skillstead/cli\`.
- \`sbom.cdx.json\`: the packages that all is built from, as CycloneDX.
- \`SHA256SUMS\`: check downloads with \`sha256sum --check --ignore-missing SHA256SUMS\`.
`
}
