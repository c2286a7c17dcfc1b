import { RegistryError } from '@skillstead/client'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { nodeUrl } from '../../addresses.ts'
import { useData } from '../../api.ts'
import { Markdown } from '../../ui/lazy-components.tsx'
import { Contents, toAnchor } from '../../ui/markdown-parts.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { NotHere } from '../placeholder-pages.tsx'
import { loadGuide, loadOperations, readSections, toGuideName } from './load-docs.ts'
import { TryIt } from './try-it.tsx'

/** A guide; or an endpoint, whose examples are for this node, with a form that calls it. */
export function GuidePage({ name }: { name: string }) {
  const [, operation] = name.split('/')
  const read = useData(['docs', name], async () => {
    const text = await loadGuide(name)
    if (operation === undefined) return { text }
    const called = (await loadOperations()).find((one) => one.name === operation)
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
  const { title, contents, body } = useMemo(() => {
    const [head, ...sections] = readSections(text)
    // The renderer lowers all headings by a level, for texts with a title.
    const parts = sections.map(({ level, heading, text: own }) => `${'#'.repeat(level - 1)} ${heading}\n${own}`)
    return {
      title: head?.heading ?? name,
      body: [head?.text, ...parts].join('\n'),
      contents: sections.map(({ level, heading }) => {
        return { level, text: heading.replaceAll('`', ''), anchor: toAnchor(heading) }
      }),
    }
  }, [name, text])
  const targets = {
    toFile(path: string, fragment?: string) {
      const guide = toGuideName(path, name)
      return guide && toDocsPath(guide) + (fragment ? `#${toAnchor(fragment)}` : '')
    },
    toPicture: (path: string) => (/^[\w-]+\.svg$/.test(path) ? `/docs/guides/${path}` : undefined),
  }
  return (
    <Page title={title} aside={<a href={`/docs/guides/${name}.md`}>Markdown</a>}>
      {children}
      {contents.length > 3 && <Contents of={contents} />}
      <Markdown text={body} targets={targets} hasContents={false} />
    </Page>
  )
}

export function toDocsPath(name: string): string {
  return name === 'README' ? '/docs' : `/docs/${name}`
}
