import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, useAction } from '../../ui/form.tsx'
import type { Operation } from './load-docs.ts'

const shownCharactersMax = 20_000
type Call = (input: Record<string, unknown>) => Promise<unknown>

/** A form that calls the endpoint with the session of the reader. Only that of a read is filled in. */
export function TryIt({ operation: { name, method, fields } }: { operation: Operation }) {
  const [answer, setAnswer] = useState<string>()
  const me = useMe()
  const isRead = method === 'GET'
  const call = useAction(async (given: Record<string, string>) => {
    setAnswer(undefined)
    const input = fields
      .filter(({ field }) => given[field])
      .map(({ field, isText }) => [field, isText ? given[field] : toValue(given[field]!)] as const)
    setAnswer(toText(await (api as unknown as Record<string, Call>)[name]!(Object.fromEntries(input))))
  })
  return (
    <>
      <Form action={call} submit={`Send ${method}`} card="Try it">
        <p class="hint">
          Sent to this node {me ? `as ${me.username}` : 'without a key'}
          {isRead ? '.' : ': it changes what the node stores.'}
        </p>
        {fields.map(({ field, required, type, sample }) => {
          const filled = isRead && sample !== undefined ? String(sample) : ''
          return (
            <Field key={field} label={field} name={field} required={required} defaultValue={filled}>
              {type}
            </Field>
          )
        })}
      </Form>
      {answer !== undefined && (
        <pre class="answer" tabIndex={0} aria-label="Answer">
          {answer}
        </pre>
      )}
    </>
  )
}

/** Values other than text are written as JSON. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function toText(answer: unknown): string {
  if (answer === undefined) return 'Done. The answer has no content.'
  const file = (answer as { body?: unknown } | null)?.body
  const text = file instanceof Uint8Array ? new TextDecoder().decode(file) : JSON.stringify(answer, null, 2)
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}\n… cut here` : text
}
