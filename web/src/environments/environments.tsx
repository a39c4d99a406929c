import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Environment, EnvironmentVersion } from '@berth/api/schemas/environments.ts'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmActions, Dialog } from '#/components/dialog.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { I18nProvider } from '#/i18n/i18n-provider.tsx'
import { environments, germanEnvironments } from '#/messages/environments.ts'
import { Page } from '#/page/page.tsx'
import { pages } from '#/paths.ts'
import { focusHeading } from '#/router/router.ts'
import { Time } from '#/time/time.tsx'
import { BuildLog } from './build-log.tsx'
import './environments.css'
import { SourceForm } from './source-form.tsx'
import { environmentsKey, isUnderWay, useEnvironments } from './use-environments.ts'

const texts = { en: { environments }, de: { environments: germanEnvironments } }

/** Images that Berth builds: for administrators all, for managers those of their groups. */
export function Environments() {
  return <I18nProvider texts={texts}>{boot.hasEnvironments ? <EnvironmentsPage /> : <SwitchedOff />}</I18nProvider>
}

function SwitchedOff() {
  const t = useTranslations('environments')
  return (
    <Page title={t('title')}>
      <p>{t('off')}</p>
    </Page>
  )
}

function EnvironmentsPage() {
  const t = useTranslations('environments')
  const { data, error, isPending } = useEnvironments()
  const [isNew, setNew] = useState(false)
  return (
    <Page title={t('title')}>
      {boot.isAdmin && (
        <p>
          <Link to={pages.admin}>{t('back')}</Link> · <Link to={pages.adminTemplates}>{t('templates')}</Link>
        </p>
      )}
      <p className="lead">{t('lead')}</p>
      <Alert error={error ?? undefined} />
      {isPending && <p role="status">{t('loading')}</p>}
      {data?.length === 0 && <p>{t('none')}</p>}
      <ul className="rows">
        {data?.map((each) => (
          <EnvironmentRow key={each.name} environment={each} />
        ))}
      </ul>
      <section className="part" aria-labelledby="new-environment">
        <h2 id="new-environment">{t('form.new')}</h2>
        {isNew ? (
          <SourceForm environment={undefined} onClose={() => setNew(false)} />
        ) : (
          <p className="actions">
            <Button isOff={!canAct()} onPress={() => setNew(true)}>
              {t('form.new')}
            </Button>
          </p>
        )}
      </section>
    </Page>
  )
}

function EnvironmentRow({ environment }: { environment: Environment }) {
  const t = useTranslations('environments')
  const client = useQueryClient()
  const task = useTask()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const [shown, setShown] = useState<number>()
  const { name, description, published, types, group_id, versions } = environment
  const isOff = task.busy || !canAct()

  const act = (work: (api: ReturnType<typeof createApiClient>) => Promise<unknown>) =>
    void task.run(async (signal) => {
      try {
        await work(createApiClient(signal))
      } finally {
        await client.invalidateQueries({ queryKey: environmentsKey })
      }
    })
  const build = () => act(async (api) => setShown((await api.buildEnvironment({ params: { name } })).version))
  const remove = () =>
    act(async (api) => {
      focusHeading()
      await api.deleteEnvironment({ params: { name } })
    })

  return (
    <li className="row">
      <div className="environment">
        <h2 className="address">{name}</h2>
        {description !== '' && <p>{description}</p>}
        <ul className="dotted hint">
          <li>{published === null ? t('unpublished') : t('published', { version: String(published) })}</li>
          <li>{types.length === 0 ? t('unused', { name }) : t('usedBy', { types: types.join(', ') })}</li>
          {group_id !== null && <li>{t('group', { id: String(group_id) })}</li>}
        </ul>
        <Alert error={task.error} />
        <p className="actions">
          <Button variant="small" isOff={isOff || isUnderWay(environment)} onPress={build}>
            <ShortLabel text={t('build')} name={t('buildThis', { name })} />
          </Button>
          <Button variant="small" isOff={isOff} onPress={() => setOpen('edit')}>
            <ShortLabel text={t('edit')} name={t('editThis', { name })} />
          </Button>
          <Button variant="small" isOff={isOff} onPress={() => setOpen('delete')}>
            <ShortLabel text={t('delete.open')} name={t('delete.openThis', { name })} />
          </Button>
        </p>
        {open === 'edit' && <SourceForm environment={environment} onClose={() => setOpen(undefined)} />}
        <ul className="versions" aria-label={t('versions', { name })}>
          {versions.map((version) => (
            <VersionRow
              key={version.version}
              name={name}
              version={version}
              published={published}
              isOff={isOff}
              isShown={shown === version.version}
              onShow={(isShown) => setShown(isShown ? version.version : undefined)}
              act={act}
            />
          ))}
        </ul>
      </div>
      {open === 'delete' && (
        <Dialog title={t('delete.title', { name })} onClose={() => setOpen(undefined)}>
          {(close) => (
            <>
              <p>{t('delete.effect')}</p>
              <ConfirmActions cancel={t('delete.cancel')} confirm={t('delete.open')} close={close} onConfirm={remove} />
            </>
          )}
        </Dialog>
      )}
    </li>
  )
}

interface VersionRowProps {
  name: string
  version: EnvironmentVersion
  published: number | null
  isOff: boolean
  isShown: boolean
  onShow(isShown: boolean): void
  act(work: (api: ReturnType<typeof createApiClient>) => Promise<unknown>): void
}

function VersionRow({ name, version, published, isOff, isShown, onShow, act }: VersionRowProps) {
  const t = useTranslations('environments')
  const { version: number, state, size, created_at, error } = version
  const words = { name, version: String(number) }
  const params = { name, version: String(number) }
  const isOlder = published !== null && number < published
  const isRunning = state === 'waiting' || state === 'building'
  return (
    <li>
      <ul className="dotted">
        <li>{t('version', { version: String(number) })}</li>
        <li>
          <span className={`version-${state}`}>{t(`state.${state}`)}</span>
          {number === published && ` (${t('isPublished')})`}
        </li>
        {size !== null && <li className="hint">{megabytes(size)}</li>}
        <li className="hint">{t.rich('made', { at: rich.inPlace(<Time at={created_at} />) })}</li>
      </ul>
      {error !== null && <p className="hint version-error">{error}</p>}
      <p className="actions">
        {state === 'ready' && number !== published && (
          <Button variant="small" isOff={isOff} onPress={() => act((api) => api.publishVersion({ params }))}>
            <ShortLabel
              text={isOlder ? t('goBack') : t('publish')}
              name={isOlder ? t('goBackTo', words) : t('publishThis', words)}
            />
          </Button>
        )}
        {isRunning && (
          <Button variant="small" isOff={isOff} onPress={() => act((api) => api.cancelBuild({ params }))}>
            <ShortLabel text={t('cancel')} name={t('cancelThis', words)} />
          </Button>
        )}
        <Button variant="small" onPress={() => onShow(!isShown)}>
          <ShortLabel text={t('log')} name={t('logOf', words)} />
        </Button>
      </p>
      {isShown && <BuildLog key={`${number}`} name={name} version={number} />}
    </li>
  )
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`
