import { lazy, Suspense, type ReactNode } from 'react'
import type { AdminPath } from '#/admin/admin.tsx'
import { isSignedIn } from '#/api.ts'
import { Loading } from '#/components/loading.tsx'
import { PageBoundary } from '#/components/page-boundary.tsx'
import { loadPart } from '#/load-part.ts'
import { AskForLink } from '#/pages/ask-for-link.tsx'
import { CheckMail } from '#/pages/check-mail.tsx'
import { Dashboard } from '#/pages/dashboard.tsx'
import { ForAdministrators } from '#/pages/forbidden.tsx'
import { Launch } from '#/pages/launch.tsx'
import { NotFound } from '#/pages/not-found.tsx'
import { Sessions } from '#/pages/sessions.tsx'
import { Verify } from '#/pages/verify.tsx'
import { pages, type PagePath } from '#/paths.ts'
import { usePlace } from '#/place.ts'
import { canReach } from '#/reaching.ts'

/** Loaded when somebody goes there: most people never do, and should not wait for tables and plots. */
const Admin = lazy(async () => {
  const parts = { canReach, reload: () => location.reload(), storage: () => sessionStorage }
  const { Admin: component } = await loadPart(() => import('#/admin/admin.tsx'), parts)
  return { default: component }
})

const routes: Readonly<Record<PagePath, () => ReactNode>> = {
  [pages.home]: () => (isSignedIn() ? <Dashboard /> : <AskForLink />),
  [pages.login]: () => <AskForLink />,
  [pages.signUp]: () => <AskForLink />,
  [pages.checkMail]: () => <CheckMail />,
  [pages.verifySignup]: () => <Verify kind="signup" />,
  [pages.verifyLogin]: () => <Verify kind="login" />,
  [pages.launch]: () => <Launch />,
  [pages.sessions]: () => signedIn(<Sessions />),
  [pages.admin]: () => administrators(pages.admin),
  [pages.adminUsers]: () => administrators(pages.adminUsers),
  [pages.adminContainers]: () => administrators(pages.adminContainers),
  [pages.adminAudit]: () => administrators(pages.adminAudit),
  [pages.adminSystem]: () => administrators(pages.adminSystem),
}

const signedIn = (page: ReactNode) => (isSignedIn() ? page : <AskForLink />)

const administrators = (page: AdminPath) =>
  signedIn(
    <ForAdministrators>
      <Admin page={page} />
    </ForAdministrators>,
  )

/** The page of the current path. A slash at the end is forgiven. */
export function CurrentPage() {
  const { path } = usePlace()
  const wanted = path.replace(/(?<=.)\/+$/, '')
  const page = Object.hasOwn(routes, wanted) ? routes[wanted as PagePath]() : <NotFound />
  // The key tells React that pages which share a component are different pages: fields and errors must not move along.
  return (
    <PageBoundary key={wanted}>
      <Suspense fallback={<Loading />}>{page}</Suspense>
    </PageBoundary>
  )
}
