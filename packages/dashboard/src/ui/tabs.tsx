/** Parts of a page as links, each with an address of its own. */
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
