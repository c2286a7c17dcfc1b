import { useLocation } from 'preact-iso'
import { toAddress } from '../data/use-address.ts'

const signInPath = '/account/sign-in'

/** A link to the login page, which returns to this page. */
export function SignInLink(props: { children: string; class?: string; target?: '_blank' }) {
  const { path, url, query } = useLocation()
  const next = path === signInPath ? query.next : url === '/' ? undefined : url
  return (
    <a
      class={props.class}
      target={props.target}
      rel={props.target && 'noopener'}
      href={toAddress(signInPath, { next })}
    >
      {props.children}
    </a>
  )
}

/** The page to open after the login: the one in the address, if it is on this node. */
export function toNextPlace(next: string | undefined): string {
  const fallback = '/account'
  if (!next?.startsWith('/') || !URL.canParse(next, location.origin)) return fallback
  const { origin, pathname, search } = new URL(next, location.origin)
  // A path that begins with two slashes, or with characters that browsers treat as such, names another host.
  if (origin !== location.origin || pathname.startsWith('//') || pathname === signInPath) return fallback
  return pathname + search
}
