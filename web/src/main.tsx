// Before all that comes with styles of its own: what comes later wins.
import '#/styles/base.css'
import '#/styles/controls.css'
import '#/styles/layout.css'
import '#/styles/frame.css'
import '#/styles/takeover.css'
import '#/styles/cards.css'
import '#/styles/progress.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { boot, isSignedIn } from '#/api.ts'
import { forgetEnded } from '#/ended.ts'
import { rememberWho } from '#/leave.ts'
import { hideToken } from '#/place.ts'
import { isOnePage, queries } from '#/queries.ts'
import { reach } from '#/reaching.ts'
import { CurrentPage } from '#/routes.tsx'
import { Words } from '#/words.tsx'

// Before anything is rendered or requested: the link's token leaves the address bar.
hideToken()
if (boot.email !== null) rememberWho(boot.email)
if (isSignedIn()) forgetEnded()
// What was asked for meanwhile has failed.
reach.subscribe(() => {
  if (reach.state === 'reachable') void queries.invalidateQueries({ predicate: isOnePage })
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element with the id "root"')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Words>
        <CurrentPage />
      </Words>
    </QueryClientProvider>
  </StrictMode>,
)
