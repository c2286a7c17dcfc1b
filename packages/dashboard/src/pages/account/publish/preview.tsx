import type { api } from '../../../api.ts'
import { ConfirmButton, Outcome, unlessBusy, type Action } from '../../../ui/form.tsx'
import { Findings, Verdict } from '../../../ui/findings.tsx'
import { Reasons, toBytesText, toCount } from '../../../ui/parts.tsx'

/** Settings of a publication that are not in the package. */
export type Wishes = Omit<Parameters<typeof api.publishSkill>[0], 'dryRun' | 'archive'>

/** The result of a dry run, and its settings. */
export interface Outline {
  readonly wishes: Wishes
  readonly result: Awaited<ReturnType<typeof api.publishSkill>>
}

/** A preview of the publication, and the button that publishes it. */
export function Preview({ outline, publish }: { outline: Outline; publish: Action }) {
  const { skill, version, quarantined, created } = outline.result
  // Omit the scan warning, because the findings are shown below.
  const warnings = outline.result.warnings.filter(({ code }) => code !== 'scan')
  return (
    <section class="card" aria-label="What would be published">
      <h2>
        <bdi>{skill.fullName}</bdi> {version.version}
      </h2>
      <p dir="auto">{skill.description}</p>
      <p class="facts">
        <span>{created ? 'a new skill or version' : 'nothing new: this content is already published'}</span>
        <span>{skill.visibility}</span>
        <span>{toCount(version.files.length, 'file')}</span>
        <span>{toBytesText(version.size)}</span>
      </p>
      {warnings.length > 0 && (
        <>
          <h3>Warnings</h3>
          <ul>
            {warnings.map(({ code, message, line }) => (
              <li key={`${code} ${message}`}>
                {message}
                {line !== undefined && ` (line ${line})`}
              </li>
            ))}
          </ul>
        </>
      )}
      <Reasons title="Omitted" of={outline.result.omitted} />
      <Reasons title="Changed" of={outline.result.changed} />
      <details>
        <summary>Files</summary>
        <ul>
          {version.files.map(({ path, size }) => (
            <li key={path}>
              <bdi>{path}</bdi> <span class="faint">{toBytesText(size)}</span>
            </li>
          ))}
        </ul>
      </details>
      {version.security && (
        <>
          <h3>Scan findings</h3>
          <Verdict of={version.security} />
          <Findings findings={version.security.findings} />
        </>
      )}
      {quarantined?.reason === 'policy' && (
        <p class="fair">The scan policy of this node quarantines it until an administrator releases it.</p>
      )}
      {version.security?.verdict === 'dangerous' && created ? (
        <ConfirmButton
          action={`Publish ${version.version}`}
          title="Publish a dangerous skill?"
          work={async () => publish.run()}
        >
          <p>The scanner rates this version as dangerous. Read the findings before you publish it.</p>
        </ConfirmButton>
      ) : (
        <button type="button" class="main" {...unlessBusy(publish)}>
          {publish.busy ? 'One moment…' : `Publish ${version.version}`}
        </button>
      )}
      <Outcome of={publish} />
    </section>
  )
}
