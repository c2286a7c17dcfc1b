import './styles/base.css'
import './styles/parts.css'
import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { App } from './app.tsx'
import { placeLinksBelowNode } from './below-node.tsx'
import { queries, takePageData } from './api.ts'
import { watchSession } from './session.ts'
import { keepFocus } from './keep-focus.ts'
import { openShareLink } from './share-link.ts'

openShareLink()
takePageData()
watchSession()
placeLinksBelowNode()
render(
  <QueryClientProvider client={queries}>
    <App />
  </QueryClientProvider>,
  document.querySelector('#app')!,
)
keepFocus()
