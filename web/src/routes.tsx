import { Suspense, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AdminPath } from '#/admin/admin.tsx'
import { boot, isSignedIn } from '#/api/api-client.ts'
import { Dashboard } from '#/containers/dashboard.tsx'
import { PageBoundary } from '#/page/page-boundary.tsx'
import { ForAdministrators, NotFound } from '#/page/status-page.tsx'
import { lazyExport } from '#/router/lazy-export.ts'
import { useLocation } from '#/router/router.ts'
import { SignIn } from '#/sign-in/sign-in.tsx'
import { Verify } from '#/sign-in/verify.tsx'
import { pages, sectionOf, type PagePath } from './paths.ts'

/** Whether the document is of this page, and its user will see it. */
const isHere = (page: PagePath) => isSignedIn() && location.pathname === page
const isAdministration = boot.isAdmin && location.pathname.startsWith(pages.admin)

// Most users never open these, and should not load tables and plots.
const Admin = lazyExport('Admin', () => import('#/admin/admin.tsx'), isAdministration)
const Archive = lazyExport('Archive', () => import('#/snapshots/archive.tsx'))
const ApiTokens = lazyExport('ApiTokens', () => import('#/account/api-tokens.tsx'), isHere(pages.tokens))
const SshKeys = lazyExport('SshKeys', () => import('#/account/ssh-keys.tsx'), isHere(pages.sshKeys))
const Environments = lazyExport(
  'Environments',
  () => import('#/environments/environments.tsx'),
  isHere(pages.environments),
)
const GroupMembers = lazyExport('GroupMembers', () => import('#/groups/group-members.tsx'), isHere(pages.groupMembers))
const Groups = lazyExport('Groups', () => import('#/groups/groups.tsx'), isHere(pages.groups))
const CheckMail = lazyExport('CheckMail', () => import('#/sign-in/check-mail.tsx'))
const YourData = lazyExport('YourData', () => import('#/account/your-data.tsx'), isHere(pages.data))
const Launch = lazyExport('Launch', () => import('#/launch/launch.tsx'), isHere(pages.launch))
const LegalText = lazyExport('LegalText', () => import('#/page/legal-text.tsx'))
const Sharing = lazyExport('Sharing', () => import('#/sharing/sharing.tsx'), isHere(pages.sharing))
const Snapshots = lazyExport('Snapshots', () => import('#/snapshots/snapshots.tsx'), isHere(pages.snapshots))
const Sessions = lazyExport('Sessions', () => import('#/account/sessions.tsx'), isHere(pages.sessions))

// The reference of the API is a document of its own.
const routes: Readonly<Record<Exclude<PagePath, typeof pages.apiDocs>, () => ReactNode>> = {
  [pages.home]: () => (isSignedIn() ? <Dashboard /> : <SignIn />),
  [pages.login]: () => <SignIn />,
  [pages.signUp]: () => <SignIn />,
  [pages.checkMail]: () => <CheckMail />,
  [pages.verifySignup]: () => <Verify kind="signup" />,
  [pages.verifyLogin]: () => <Verify kind="login" />,
  [pages.launch]: () => <Launch />,
  [pages.sessions]: () => signedIn(<Sessions />),
  [pages.tokens]: () => signedIn(<ApiTokens />),
  [pages.sshKeys]: () => signedIn(<SshKeys />),
  [pages.data]: () => signedIn(<YourData />),
  [pages.groups]: () => signedIn(<Groups />),
  [pages.groupMembers]: () => signedIn(<GroupMembers />),
  [pages.sharing]: () => signedIn(<Sharing />),
  [pages.snapshots]: () => signedIn(<Snapshots />),
  [pages.environments]: () => signedIn(<Environments />),
  [pages.archive]: () => <Archive />,
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
  const page = Object.hasOwn(routes, wanted) ? routes[wanted as keyof typeof routes]() : <NotFound />
  // Pages that share a component are different pages to React: fields and errors must not be kept. `Admin` has a
  // boundary for each of its own.
  return (
    <PageBoundary key={sectionOf(wanted)}>
      <Suspense fallback={<Loading />}>{page}</Suspense>
    </PageBoundary>
  )
}

/** Shown while a chunk loads; visible only when that takes long. */
function Loading() {
  const t = useTranslations('frame')
  return (
    <p role="status" className="loading">
      {t('loading')}
    </p>
  )
}
