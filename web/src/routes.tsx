import { Suspense, type ReactNode } from 'react'
import type { AdminPath } from '#/admin/admin.tsx'
import { boot, isSignedIn } from '#/api/api-client.ts'
import { Loading } from '#/components/loading.tsx'
import { PageBoundary } from '#/components/page/page-boundary.tsx'
import { lazyExport } from '#/router/lazy-export.ts'
import { SignIn } from '#/pages/sign-in/sign-in.tsx'
import { Dashboard } from '#/pages/dashboard.tsx'
import { ForAdministrators } from '#/pages/forbidden.tsx'
import { NotFound } from '#/pages/not-found.tsx'
import { Verify } from '#/pages/sign-in/verify.tsx'
import { pages, sectionOf, type PagePath } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'

/** Whether the document is of this page, and its user will see it. */
const isHere = (page: PagePath) => isSignedIn() && location.pathname === page
const isAdministration = boot.isAdmin && location.pathname.startsWith(pages.admin)

// Most users never open these, and should not load tables and plots.
const Admin = lazyExport('Admin', () => import('#/admin/admin.tsx'), isAdministration)
const ApiDocs = lazyExport('ApiDocs', () => import('#/api-docs/api-docs.tsx'))
const Archive = lazyExport('Archive', () => import('#/pages/archive.tsx'))
const ApiTokens = lazyExport('ApiTokens', () => import('#/pages/api-tokens.tsx'), isHere(pages.tokens))
const GroupMembers = lazyExport(
  'GroupMembers',
  () => import('#/pages/groups/group-members.tsx'),
  isHere(pages.groupMembers),
)
const Groups = lazyExport('Groups', () => import('#/pages/groups/groups.tsx'), isHere(pages.groups))
const CheckMail = lazyExport('CheckMail', () => import('#/pages/sign-in/check-mail.tsx'))
const YourData = lazyExport('YourData', () => import('#/pages/your-data.tsx'), isHere(pages.data))
const Launch = lazyExport('Launch', () => import('#/pages/launch.tsx'), isHere(pages.launch))
const LegalText = lazyExport('LegalText', () => import('#/pages/legal-text.tsx'))
const Sharing = lazyExport('Sharing', () => import('#/pages/sharing.tsx'), isHere(pages.sharing))
const Snapshots = lazyExport('Snapshots', () => import('#/pages/snapshots.tsx'), isHere(pages.snapshots))
const Sessions = lazyExport('Sessions', () => import('#/pages/sessions.tsx'), isHere(pages.sessions))

const routes: Readonly<Record<PagePath, () => ReactNode>> = {
  [pages.home]: () => (isSignedIn() ? <Dashboard /> : <SignIn />),
  [pages.login]: () => <SignIn />,
  [pages.signUp]: () => <SignIn />,
  [pages.checkMail]: () => <CheckMail />,
  [pages.verifySignup]: () => <Verify kind="signup" />,
  [pages.verifyLogin]: () => <Verify kind="login" />,
  [pages.launch]: () => <Launch />,
  [pages.sessions]: () => signedIn(<Sessions />),
  [pages.tokens]: () => signedIn(<ApiTokens />),
  [pages.data]: () => signedIn(<YourData />),
  [pages.groups]: () => signedIn(<Groups />),
  [pages.groupMembers]: () => signedIn(<GroupMembers />),
  [pages.sharing]: () => signedIn(<Sharing />),
  [pages.snapshots]: () => signedIn(<Snapshots />),
  [pages.archive]: () => <Archive />,
  [pages.apiDocs]: () => <ApiDocs />,
  [pages.imprint]: () => <LegalText text="imprint" />,
  [pages.privacy]: () => <LegalText text="privacy" />,
  [pages.admin]: () => administrators(pages.admin),
  [pages.adminUsers]: () => administrators(pages.adminUsers),
  [pages.adminContainers]: () => administrators(pages.adminContainers),
  [pages.adminGroups]: () => administrators(pages.adminGroups),
  [pages.adminTermEnd]: () => administrators(pages.adminTermEnd),
  [pages.adminTemplates]: () => administrators(pages.adminTemplates),
  [pages.adminUsage]: () => administrators(pages.adminUsage),
  [pages.adminAudit]: () => administrators(pages.adminAudit),
  [pages.adminTokens]: () => administrators(pages.adminTokens),
  [pages.adminSystem]: () => administrators(pages.adminSystem),
}

const signedIn = (page: ReactNode) => (isSignedIn() ? page : <SignIn />)

const administrators = (page: AdminPath) =>
  signedIn(
    <ForAdministrators>
      <Admin page={page} />
    </ForAdministrators>,
  )

/** The page of the current path. A trailing slash is ignored. */
export function CurrentPage() {
  const { path } = useLocation()
  const wanted = path.replace(/(?<=.)\/+$/, '')
  const page = Object.hasOwn(routes, wanted) ? routes[wanted as PagePath]() : <NotFound />
  // Pages that share a component are different pages to React: fields and errors must not be kept. `Admin` has a boundary
  // for each of its own.
  return (
    <PageBoundary key={sectionOf(wanted)}>
      <Suspense fallback={<Loading />}>{page}</Suspense>
    </PageBoundary>
  )
}
