import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useRef } from 'preact/hooks'

interface Tab {
  readonly href: string
  readonly title: string
  readonly current: boolean
}

const toLink = ({ href, title, current }: Tab) => (
  <a key={href} href={href} aria-current={current ? 'page' : undefined}>
    {title}
  </a>
)

/** The tabs of a page: links, each with its own address. */
export function Tabs(props: { label: string; tabs: readonly Tab[] }) {
  const bar = useRef<HTMLElement>(null)
  const current = props.tabs.find((tab) => tab.current)?.href
  useEffect(() => {
    const link = bar.current!.querySelector<HTMLElement>('[aria-current]')
    // Not `scrollIntoView`, which also scrolls the page.
    if (link)
      bar.current!.scrollLeft =
        link.offsetLeft - bar.current!.offsetLeft - (bar.current!.clientWidth - link.offsetWidth) / 2
  }, [current])
  return (
    <nav class="tabs" aria-label={props.label} ref={bar}>
      {props.tabs.map(toLink)}
    </nav>
  )
}

/** Links to the views of one tab. */
export const Views = (props: { views: readonly Tab[]; children?: ComponentChildren }) => (
  <p class="facts views">
    {props.views.map(toLink)}
    {props.children}
  </p>
)

type Area = readonly [href: string, title: string, ...unknown[]]

/** The tabs of an area. The first tab matches its own address only, each other tab also the addresses below its own. */
export function AreaTabs({ label, pages }: { label: string; pages: readonly Area[] }) {
  const { path } = useLocation()
  const [[root] = []] = pages
  const isHere = (href: string) => (href === root ? path === href : path.startsWith(href))
  return <Tabs label={label} tabs={pages.map(([href, title]) => ({ href, title, current: isHere(href) }))} />
}
