import { RegistryError } from '@skillstead/client'
import { toFields } from '@skillstead/protocol'
import { nodeUrl } from '../../addresses.ts'
import { useData, api } from '../../api.ts'
import { Markdown } from '../../ui/lazy-components.tsx'
import { toAnchor } from '../../ui/anchors.ts'
import { Page, Shown } from '../../ui/page.tsx'
import { NotHere } from '../placeholder-pages.tsx'
import { loadGuide, loadList, type Operation, toGuideName } from './load-docs.ts'
import { useState } from 'preact/hooks'
import { useMe } from '../../session.ts'
import { Field, Form, useAction, type Fields } from '../../ui/form.tsx'

/** The page of a guide; or of an endpoint, with examples for this node, and a form that calls the endpoint. */
export function GuidePage({ name }: { name: string }) {
  const [, operation] = name.split('/')
  const read = useData(['docs', name], async () => {
    const text = await loadGuide(name)
    if (operation === undefined) return { text }
    const called = (await loadList<Operation>('operations')).find((one) => one.name === operation)
    return { text: text.replaceAll('https://skills.example.com', nodeUrl), called }
  })
  if (read.error instanceof RegistryError && read.error.code === 'not_found') return <NotHere />
  return (
    <Shown of={read}>
      {({ text, called }) => {
        const [, title = name, body = ''] = /^# (.+)\n([^]*)$/.exec(text) ?? []
        return (
          <Page title={title} aside={<a href={`/docs/guides/${name}.md`}>Markdown</a>}>
            {called && <TryIt operation={called} />}
            <Markdown text={body} targets={toTargets(name)} />
          </Page>
        )
      }}
    </Shown>
  )
}

const toTargets = (name: string) => ({
  isGuide: true,
  toFile(path: string, fragment?: string) {
    const guide = toGuideName(path, name)
    return guide && toDocsPath(guide) + (fragment ? `#${toAnchor(fragment)}` : '')
  },
  toPicture: (path: string) => (/^[\w-]+\.svg$/.test(path) ? `/docs/guides/${path}` : undefined),
})

export const toDocsPath = (name: string): string => (name === 'README' ? '/docs' : `/docs/${name}`)

const shownCharactersMax = 20_000
type Call = (input: Record<string, unknown>) => Promise<unknown>

/** A form that calls the endpoint with the session of the reader. Samples are filled in only for a GET request. */
function TryIt({ operation: { name, method, fields } }: { operation: Operation }) {
  const [answer, setAnswer] = useState<string>()
  const me = useMe()
  const isRead = method === 'GET'
  const call = useAction(async (given: Fields) => {
    setAnswer(undefined)
    const input = fields
      .filter(({ field }) => given[field])
      .map(({ field, isText }) => [field, isText ? given[field] : toValue(given[field]!)] as const)
    setAnswer(toShownAnswer(await (api as unknown as Record<string, Call>)[name]!(Object.fromEntries(input))))
  }, isRead)
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

/** The value of a field that is not text: users write it as JSON. */
function toValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function toShownAnswer(answer: unknown): string {
  if (answer === undefined) return 'Done. The answer has no content.'
  const { body } = toFields(answer)
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : JSON.stringify(answer, null, 2)
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}\n… cut here` : text
}
