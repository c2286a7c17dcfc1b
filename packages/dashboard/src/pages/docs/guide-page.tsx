import { RegistryError } from '@skillstead/client'
import type { ComponentChildren } from 'preact'
import { nodeUrl } from '../../addresses.ts'
import { useData } from '../../api.ts'
import { Markdown } from '../../ui/lazy-components.tsx'
import { toAnchor } from '../../ui/anchors.ts'
import { Page, Shown } from '../../ui/page.tsx'
import { NotHere } from '../placeholder-pages.tsx'
import { loadGuide, loadList, type Operation, toGuideName } from './load-docs.ts'
import { TryIt } from './try-it.tsx'

/** A guide; or an endpoint, whose examples are for this node, with a form that calls it. */
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
      {({ text, called }) => (
        <GuideText name={name} text={text}>
          {called && <TryIt operation={called} />}
        </GuideText>
      )}
    </Shown>
  )
}

function GuideText({ name, text, children }: { name: string; text: string; children: ComponentChildren }) {
  const [, title = name, body = ''] = /^# (.+)\n([^]*)$/.exec(text) ?? []
  const targets = {
    isGuide: true,
    toFile(path: string, fragment?: string) {
      const guide = toGuideName(path, name)
      return guide && toDocsPath(guide) + (fragment ? `#${toAnchor(fragment)}` : '')
    },
    toPicture: (path: string) => (/^[\w-]+\.svg$/.test(path) ? `/docs/guides/${path}` : undefined),
  }
  return (
    <Page title={title} aside={<a href={`/docs/guides/${name}.md`}>Markdown</a>}>
      {children}
      <Markdown text={body} targets={targets} />
    </Page>
  )
}

export function toDocsPath(name: string): string {
  return name === 'README' ? '/docs' : `/docs/${name}`
}
