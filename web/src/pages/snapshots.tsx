import { useTranslations } from 'use-intl/react'
import { boot, canAct } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Page } from '#/components/page/page.tsx'
import { useContainers } from '#/containers/use-containers.ts'
import { HomeSnapshots } from '#/snapshots/home-snapshots.tsx'
import { SnapshotsI18nProvider } from '#/snapshots/snapshots-i18n-provider.tsx'
import '#/styles/groups.css'
import '#/styles/snapshots.css'

/** Snapshots of the user's homes: make one, restore one beside what is there, remove one. */
export function Snapshots() {
  return <SnapshotsI18nProvider>{boot.hasSnapshots ? <SnapshotsPage /> : <SwitchedOff />}</SnapshotsI18nProvider>
}

function SwitchedOff() {
  const t = useTranslations('snapshots')
  return (
    <Page title={t('title')}>
      <p>{t('off')}</p>
    </Page>
  )
}

function SnapshotsPage() {
  const t = useTranslations('snapshots')
  const { containers, problem } = useContainers()
  // Undefined until it is known: a page that cannot read the list must not say that nothing was launched.
  const launched = containers?.filter(({ created_at: at }) => at !== null)
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <Alert error={problem} />
      {launched?.map((entry) => (
        <HomeSnapshots key={entry.type} entry={entry} isOff={!canAct()} />
      ))}
      {launched?.length === 0 && <p className="hint">{t('nothingLaunched')}</p>}
    </Page>
  )
}
