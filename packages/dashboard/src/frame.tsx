import { useLocation } from 'preact-iso'
import { signOut, useMe } from './session.ts'
import { addresses } from './addresses.ts'
import { SignInLink } from './ui/sign-in-link.tsx'

const places = [
  ['/', 'Skills'],
  ['/packs', 'Packs'],
  ['/trending', 'Trending'],
  ['/users', 'Authors'],
  ['/agents', 'Agents'],
  ['/requests', 'Requests'],
  ['/external', 'External'],
] as const

export function Header() {
  const { path } = useLocation()
  const isHere = (place: string) =>
    place === '/' ? path === '/' || path.startsWith('/skills/') : path.startsWith(place)
  return (
    <header class="top">
      <a class="brand" href="/">
        Skillstead
      </a>
      <nav aria-label="Main">
        {places.map(([place, title]) => (
          <a key={place} href={place} aria-current={isHere(place) ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Who />
    </header>
  )
}

function Who() {
  const me = useMe()
  const { route } = useLocation()
  if (me === undefined) return <div class="who" />
  if (me === null) {
    return (
      <div class="who">
        <SignInLink class="button">Sign in</SignInLink>
      </div>
    )
  }
  const leave = async () => {
    await signOut()
    route('/')
  }
  return (
    <nav class="who" aria-label="You">
      {me.role === 'admin' && <a href="/admin">Operate</a>}
      <a href="/account">Account</a>
      <a href={addresses.user(me.username)}>{me.username}</a>
      <button type="button" class="quiet" onClick={leave}>
        Sign out
      </button>
    </nav>
  )
}

export function Footer() {
  return (
    <footer class="bottom">
      <a href="/takedowns">Takedowns</a>
      <a href="/docs">API reference</a>
      <a href="/openapi.json">OpenAPI</a>
    </footer>
  )
}
