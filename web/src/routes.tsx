import type { ReactNode } from 'react'
import { isSignedIn } from '#/api.ts'
import { AskForLink } from '#/pages/ask-for-link.tsx'
import { CheckMail } from '#/pages/check-mail.tsx'
import { Dashboard } from '#/pages/dashboard.tsx'
import { Launch } from '#/pages/launch.tsx'
import { NotFound } from '#/pages/not-found.tsx'
import { Sessions } from '#/pages/sessions.tsx'
import { Verify } from '#/pages/verify.tsx'
import { pages, type PagePath } from '#/paths.ts'
import { usePlace } from '#/place.ts'

/** Keys tell React that pages which share a component are different pages: fields and errors must not move along. */
const routes: Readonly<Record<PagePath, () => ReactNode>> = {
  [pages.home]: () => (isSignedIn() ? <Dashboard /> : <AskForLink key="login" kind="login" />),
  [pages.login]: () => <AskForLink key="login" kind="login" />,
  [pages.signUp]: () => <AskForLink key="signup" kind="signup" />,
  [pages.checkMail]: () => <CheckMail />,
  [pages.verifySignup]: () => <Verify key="signup" kind="signup" />,
  [pages.verifyLogin]: () => <Verify key="login" kind="login" />,
  [pages.launch]: () => <Launch />,
  [pages.sessions]: () => (isSignedIn() ? <Sessions /> : <AskForLink key="login" kind="login" />),
}

/** The page of the current path. A slash at the end is forgiven. */
export function CurrentPage() {
  const { path } = usePlace()
  const wanted = path.replace(/(?<=.)\/+$/, '')
  return Object.hasOwn(routes, wanted) ? routes[wanted as PagePath]() : <NotFound />
}
