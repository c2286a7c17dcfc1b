import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { Findings, Verdict } from '../../ui/findings.tsx'
import { Field, Form, TextArea, useAction } from '../../ui/form.tsx'
import { Time } from '../../ui/parts.tsx'

type Report = Extract<Awaited<ReturnType<typeof api.scanExternal>>, { score: number }>

/** Scans a skill by its URL or its text, and shows the report. */
export function ScanForm() {
  const [report, setReport] = useState<Report>()
  const action = useAction(async ({ url, content }: Record<string, string>) => {
    setReport(undefined)
    setReport((await api.scanExternal(url ? { url } : { content })) as Report)
  })
  return (
    <section class="card">
      <h2>Scan a skill before you install it</h2>
      <Form action={action} submit="Scan">
        <Field
          label="Address"
          name="url"
          type="url"
          placeholder="https://github.com/owner/repository"
          hint="A skill's folder on GitHub, its SKILL.md, or an archive. Only public addresses are read."
        />
        <TextArea label="Or the text of a SKILL.md" name="content" rows={6} hint="Used if there is no URL." />
      </Form>
      {report && (
        <section aria-label="The report">
          <h3>The report</h3>
          <Verdict of={report} />
          <p class="faint">
            Scanned <Time at={report.scannedAt} /> by the rules {report.rulesVersion}. <code>{report.digest}</code>
          </p>
          <Findings findings={report.findings} />
          {report.cut.length > 0 && (
            <>
              <h3>Not scanned</h3>
              <ul>
                {report.cut.map(({ path, reason }) => (
                  <li key={path}>
                    <bdi>{path}</bdi>: {reason}
                  </li>
                ))}
              </ul>
            </>
          )}
        </section>
      )}
    </section>
  )
}
