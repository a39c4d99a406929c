import { lazy, Suspense, type ReactNode } from 'react'
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

/** Loaded when somebody goes there: most people never do, and should not wait for tables and plots. */
const Admin = lazy(() => import('#/admin/admin.tsx').then(({ Admin: component }) => ({ default: component })))

/** Keys tell React that pages which share a component are different pages: fields and errors must not move along. */
const routes: Readonly<Record<PagePath, () => ReactNode>> = {
  [pages.home]: () => (isSignedIn() ? <Dashboard /> : <AskForLink key="login" kind="login" />),
  [pages.login]: () => <AskForLink key="login" kind="login" />,
  [pages.signUp]: () => <AskForLink key="signup" kind="signup" />,
  [pages.checkMail]: () => <CheckMail />,
  [pages.verifySignup]: () => <Verify key="signup" kind="signup" />,
  [pages.verifyLogin]: () => <Verify key="login" kind="login" />,
  [pages.launch]: () => <Launch />,
  [pages.sessions]: () => signedIn(<Sessions />),
  [pages.admin]: () => signedIn(<Admin page={pages.admin} />),
  [pages.adminUsers]: () => signedIn(<Admin page={pages.adminUsers} />),
  [pages.adminContainers]: () => signedIn(<Admin page={pages.adminContainers} />),
  [pages.adminAudit]: () => signedIn(<Admin page={pages.adminAudit} />),
  [pages.adminSystem]: () => signedIn(<Admin page={pages.adminSystem} />),
}

const signedIn = (page: ReactNode) => (isSignedIn() ? page : <AskForLink key="login" kind="login" />)

/** The page of the current path. A slash at the end is forgiven. */
export function CurrentPage() {
  const { path } = usePlace()
  const wanted = path.replace(/(?<=.)\/+$/, '')
  const page = Object.hasOwn(routes, wanted) ? routes[wanted as PagePath]() : <NotFound />
  return <Suspense fallback={null}>{page}</Suspense>
}
