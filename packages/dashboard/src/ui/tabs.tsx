import { useLocation } from 'preact-iso'

/** Parts of a page as links, each with its own address. */
export function Tabs(props: { label: string; tabs: readonly { href: string; title: string; current: boolean }[] }) {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(({ href, title, current }) => (
        <a key={href} href={href} aria-current={current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/** The tabs of an area. The first matches its own address only, the others also the addresses below them. */
export function AreaTabs({
  label,
  pages,
}: {
  label: string
  pages: readonly (readonly [href: string, title: string])[]
}) {
  const { path } = useLocation()
  const [[root] = []] = pages
  const isHere = (href: string) => (href === root ? path === href : path.startsWith(href))
  return <Tabs label={label} tabs={pages.map(([href, title]) => ({ href, title, current: isHere(href) }))} />
}
