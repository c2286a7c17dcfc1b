import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

/** A page with its title, in the window and as its only first-level heading. */
export function Page(props: { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
  useTitle(props.title)
  return (
    <article class="page">
      <div class="page-head">
        <h1>
          <bdi>{props.title}</bdi>
        </h1>
        {props.aside}
      </div>
      {props.children}
    </article>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === 'Skillstead' ? title : `${title} · Skillstead`
  }, [title])
}
