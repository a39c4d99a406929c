// Before components that import styles of their own: later rules win.
import '#/styles/base.css'
import '#/styles/controls.css'
import '#/page/page.css'
import '#/containers/containers.css'
import '#/shortcuts/shortcuts.css'
import '#/styles/touch.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { boot, isContinuable, isSignedIn, openedLinkSecret, sessionRefresh } from '#/api/api-client.ts'
import {
  continuePath,
  documentSession,
  forgetEndedSession,
  forgetKnownSession,
  mayContinue,
  rememberEmail,
  rememberKnownSession,
} from '#/session/login-redirect.ts'
import { keepRenewed } from '#/session/session-renewal.ts'
import { pages } from '#/paths.ts'
import { announceChange, sessionChannel } from '#/session/session-channel.ts'
import { keepLinkSecret, leaveTokenBehindHash } from '#/router/router.ts'
import { isOnePage, queryClient } from '#/api/query-client.ts'
import { connectivity } from '#/api/connectivity.ts'
import { firstParts } from '#/router/lazy-part.ts'
import { CurrentPage } from './routes.tsx'
import { firstCatalogue, I18nProvider } from '#/i18n/i18n-provider.tsx'

// Before anything is rendered or requested, the link's token leaves the address.
const isOpenedAgain = leaveTokenBehindHash()
if (!isOpenedAgain) keepLinkSecret(openedLinkSecret)
if (boot.email !== null) rememberEmail(boot.email)
Object.assign(documentSession, { isContinuable, ended: () => sessionRefresh.ended })
announceChange(isSignedIn())
if (isSignedIn()) {
  // Another tab has the session of another user, or of none: see `useMe`, and `redirectToLogin` of the query client.
  sessionChannel.subscribe(() => void queryClient.invalidateQueries({ queryKey: ['me'] }))
  forgetEndedSession()
  if (boot.acting === null) rememberKnownSession()
  const lifetime = boot.tokenLifetime
  if (lifetime !== null) keepRenewed(lifetime, () => sessionRefresh.run(), { window, document, now: () => Date.now() })
}
// Signed out on purpose: nothing is tried any more.
else if (location.pathname === pages.login && !location.search.includes('ended=')) forgetKnownSession()
const isContinued = !isSignedIn() && boot.acting === null && mayContinue(location.pathname)
if (isContinued) location.replace(continuePath(location.pathname + location.search))
// Requests during the outage have failed.
connectivity.subscribe(() => {
  if (connectivity.state === 'reachable') void queryClient.invalidateQueries({ predicate: isOnePage })
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no element with the id "root"')
if (!isContinued && !isOpenedAgain)
  void Promise.all([firstCatalogue, firstParts()]).then(() =>
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <I18nProvider>
            <CurrentPage />
          </I18nProvider>
        </QueryClientProvider>
      </StrictMode>,
    ),
  )
