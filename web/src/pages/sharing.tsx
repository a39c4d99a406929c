import { useTranslations } from 'use-intl/react'
import { boot, canAct } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Page } from '#/components/page/page.tsx'
import { rich } from '#/components/rich.tsx'
import { Time } from '#/components/time.tsx'
import { useContainers } from '#/containers/use-containers.ts'
import { Looks } from '#/sharing/looks.tsx'
import { OwnContainer } from '#/sharing/own-container.tsx'
import { SharingI18nProvider } from '#/sharing/sharing-i18n-provider.tsx'
import { sharedUrlOf, useSharedWithMe } from '#/sharing/use-shares.ts'
import '#/styles/groups.css'
import '#/styles/account/sharing.css'

/** With whom the user shares containers, who is there now, and what others share with the user. */
export function Sharing() {
  return <SharingI18nProvider>{boot.sharing === null ? <SwitchedOff /> : <SharingPage />}</SharingI18nProvider>
}

function SwitchedOff() {
  const t = useTranslations('sharing')
  return (
    <Page title={t('title')}>
      <p>{t('off')}</p>
    </Page>
  )
}

function SharingPage() {
  const t = useTranslations('sharing')
  const { containers, problem } = useContainers()
  // An administrator who acts for the user shares nothing of theirs.
  const isOff = !canAct() || boot.acting !== null
  // Undefined until it is known: a page that cannot read the list must not say that nothing was launched.
  const launched = containers?.filter(({ created_at: at }) => at !== null)
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      {boot.acting === null && <Looks containers={containers} />}
      <SharedWithMe />
      <Alert error={problem} />
      {launched?.map((entry) => (
        <OwnContainer key={entry.type} entry={entry} isOff={isOff} />
      ))}
      {launched?.length === 0 && <p className="hint">{t('nothingLaunched')}</p>}
    </Page>
  )
}

function SharedWithMe() {
  const t = useTranslations('sharing')
  const query = useSharedWithMe()
  // Nor before it is known: the heading would come and go.
  if (!query.error && !query.data?.length) return null
  return (
    <section className="part" aria-labelledby="shared-with-me">
      <h2 id="shared-with-me">{t('withMe')}</h2>
      <Alert error={query.error ?? undefined} />
      <ul className="rows">
        {query.data?.map((shared) => (
          <li key={shared.id} className="row">
            <div>
              <h3 className="address">{t('of', { name: shared.display_name, owner: shared.owner })}</h3>
              <p className="hint">{t.rich(shared.may, { at: rich.inPlace(<Time at={shared.expires_at} />) })}</p>
            </div>
            <a className="button small" href={sharedUrlOf(shared)}>
              {t('open')}
              <span className="visually-hidden"> {t('of', { name: shared.display_name, owner: shared.owner })}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
