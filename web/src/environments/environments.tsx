import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Environment, EnvironmentVersion } from '@berth/api/schemas/environments.ts'
import { AdminNav } from '#/admin/admin-nav.tsx'
import { shell } from '#/admin/messages/shell.ts'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { ButtonMenu } from '#/components/button-menu.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmDialog, Dialog } from '#/components/dialog.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { rich } from '#/components/rich.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTypes } from '#/components/type-name.tsx'
import { TypeSign } from '#/components/type-sign.tsx'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { environments } from '#/messages/environments.ts'
import { Page } from '#/page/page.tsx'
import { SwitchedOff } from '#/page/status-page.tsx'
import { focusHeading } from '#/router/router.ts'
import { BuildLog } from './build-log.tsx'
import './environments.css'
import { OlderContainers } from './older-containers.tsx'
import { SourceForm } from './source-form.tsx'
import { environmentsKey, isUnderWay, useEnvironments } from './use-environments.ts'

/** Images that Berth builds: for administrators all, for managers those of their groups. */
export const Environments = withTexts({ environments, admin: { shell } }, () =>
  boot.hasEnvironments ? <EnvironmentsPage /> : <SwitchedOff of="environments" />,
)

function EnvironmentsPage() {
  const t = useTranslations('environments')
  const query = useEnvironments()
  const [isNew, setNew] = useState(false)
  return (
    <Page
      title={t('title')}
      {...(boot.isAdmin && { width: 'full', nav: <AdminNav /> })}
      actions={
        <Button variant="primary" isOff={!canAct()} onPress={() => setNew(true)}>
          {t('form.new')}
        </Button>
      }
    >
      <p className="lead">{t('lead')}</p>
      <QueryState query={query} />
      {query.data?.length === 0 && <p className="empty">{t('none')}</p>}
      <ul className="rows">
        {query.data?.map((each) => (
          <EnvironmentRow key={each.name} environment={each} />
        ))}
      </ul>
      {isNew && (
        <Dialog title={t('form.new')} variant="sheet" onClose={() => setNew(false)}>
          {(close) => <SourceForm environment={undefined} onClose={close} />}
        </Dialog>
      )}
    </Page>
  )
}

function EnvironmentRow({ environment }: { environment: Environment }) {
  const t = useTranslations('environments')
  const client = useQueryClient()
  const task = useTask()
  const [open, setOpen] = useState<'edit' | 'delete' | 'older'>()
  const [shown, setShown] = useState<number>()
  const { name, description, published, types, group, versions, trial } = environment
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
        <div className="environment-head">
          <h2 className="sheet-name">
            <EnvironmentSign types={types} />
            <span className="address">{name}</span>
          </h2>
          <p className="actions">
            <Button variant="small" isOff={isOff || isUnderWay(environment)} onPress={build}>
              <ShortLabel text={t('build')} name={t('buildThis', { name })} />
            </Button>
            <ButtonMenu
              label={t('more', { name })}
              actions={[
                item('edit', [t('edit'), t('editThis', { name })], () => setOpen('edit'), isOff),
                ...(published !== null && types.length > 0
                  ? [
                      item('older', [t('older.open'), t('older.openThis', { name })], () =>
                        setOpen(open === 'older' ? undefined : 'older'),
                      ),
                    ]
                  : []),
                item('delete', [t('delete.open'), t('delete.openThis', { name })], () => setOpen('delete'), isOff),
              ]}
            />
          </p>
        </div>
        {description !== '' && <p>{description}</p>}
        <ul className="dotted hint">
          <li>{published === null ? t('unpublished') : t('published', { version: String(published) })}</li>
          <li>{types.length === 0 ? t('unused', { name }) : t('usedBy', { types: types.join(', ') })}</li>
          {group !== null && <li>{t('group', { name: group })}</li>}
        </ul>
        <Alert error={task.error} />
        {open === 'older' && <OlderContainers name={name} />}
        {trial && <TrialNote name={name} trial={trial} isOff={isOff} act={act} />}
        <ul className="versions" aria-label={t('versions', { name })}>
          {versions.map((version) => (
            <VersionRow
              key={version.version}
              name={name}
              version={version}
              published={published}
              mayTry={types.length > 0 && trial?.version !== version.version}
              isOff={isOff}
              isShown={shown === version.version}
              onShow={(isShown) => setShown(isShown ? version.version : undefined)}
              act={act}
            />
          ))}
        </ul>
      </div>
      {open === 'edit' && (
        <Dialog title={t('form.edit', { name })} variant="sheet" onClose={() => setOpen(undefined)}>
          {(close) => <SourceForm environment={environment} onClose={close} />}
        </Dialog>
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={t('delete.title', { name })}
          confirm={t('delete.open')}
          onConfirm={remove}
          onClose={() => setOpen(undefined)}
        >
          <p>{t('delete.effect')}</p>
        </ConfirmDialog>
      )}
    </li>
  )
}

/** An item of a menu. @param words what it says, and its name for screen readers */
const item = (key: string, [text, name]: readonly [text: string, name: string], run: () => void, isOff = false) => ({
  key,
  text,
  label: <ShortLabel text={text} name={name} />,
  isOff,
  run,
})

/** That of the first type that launches it. */
function EnvironmentSign({ types: [first] }: Pick<Environment, 'types'>) {
  return <TypeSign icon={useTypes().data?.find(({ type }) => type === first)?.icon ?? 'flask'} />
}

type Act = (work: (api: ReturnType<typeof createApiClient>) => Promise<unknown>) => void

interface TrialNoteProps {
  name: string
  trial: NonNullable<Environment['trial']>
  isOff: boolean
  act: Act
}

/** A version that the reader tries, with the way to it. */
function TrialNote({ name, trial: { version, url, ends_at }, isOff, act }: TrialNoteProps) {
  const t = useTranslations('environments.trial')
  return (
    <div className="trial">
      <p>{t.rich('note', { version: String(version), at: rich.time(ends_at) })}</p>
      <p className="actions">
        <a className="button small" href={url}>
          <ShortLabel text={t('open')} name={t('openThis', { name, version: String(version) })} />
        </a>
        <Button variant="small" isOff={isOff} onPress={() => act((api) => api.endTrial({ params: { name } }))}>
          <ShortLabel text={t('end')} name={t('endThis', { name, version: String(version) })} />
        </Button>
      </p>
    </div>
  )
}

interface VersionRowProps {
  name: string
  version: EnvironmentVersion
  published: number | null
  /** A template says how it is run, and the reader does not try it. */
  mayTry: boolean
  isOff: boolean
  isShown: boolean
  onShow(isShown: boolean): void
  act: Act
}

function VersionRow({ name, version, published, mayTry, isOff, isShown, onShow, act }: VersionRowProps) {
  const t = useTranslations('environments')
  const { version: number, state, size, created_at, error, changes } = version
  const words = { name, version: String(number) }
  const params = { name, version: String(number) }
  const isOlder = published !== null && number < published
  const isRunning = state === 'waiting' || state === 'building'
  const showLog = () => onShow(!isShown)
  const rare = [
    ...(state === 'ready' && mayTry
      ? [item('try', [t('try'), t('tryThis', words)], () => act((api) => api.tryVersion({ params })), isOff)]
      : []),
    ...(state === 'ready' ? [item('log', [t('log'), t('logOf', words)], showLog)] : []),
    ...(isRunning
      ? [item('cancel', [t('cancel'), t('cancelThis', words)], () => act((api) => api.cancelBuild({ params })), isOff)]
      : []),
  ]
  return (
    <li>
      <ul className="dotted">
        <li>{t('version', { version: String(number) })}</li>
        <li>
          <StatusBadge
            word={number === published ? t('isPublished') : t(`state.${state}`)}
            tone={number === published ? 'good' : tones[state]}
          />
        </li>
        {size !== null && <li className="hint">{megabytes(size)}</li>}
        <li className="hint">{t.rich('made', { at: rich.time(created_at) })}</li>
      </ul>
      <p className="actions">
        {state === 'ready' && number !== published && (
          <Button variant="small" isOff={isOff} onPress={() => act((api) => api.publishVersion({ params }))}>
            <ShortLabel
              text={isOlder ? t('goBack') : t('publish')}
              name={isOlder ? t('goBackTo', words) : t('publishThis', words)}
            />
          </Button>
        )}
        {state !== 'ready' && (
          <Button variant="small" onPress={showLog}>
            <ShortLabel text={t('log')} name={t('logOf', words)} />
          </Button>
        )}
        {rare.length > 0 && <ButtonMenu label={t('moreOfVersion', words)} actions={rare} />}
      </p>
      {error !== null && <p className="hint version-error">{error}</p>}
      {changes !== null && <Changes changes={changes} name={t('changesOf', words)} />}
      {isShown && <BuildLog key={`${number}`} name={name} version={number} />}
    </li>
  )
}

const tones = { waiting: 'busy', building: 'busy', ready: 'idle', failed: 'bad' } as const

/** What of the source is another than in the version before. */
function Changes({ changes, name }: { changes: readonly string[]; name: string }) {
  const t = useTranslations('environments')
  if (changes.length === 0) return <p className="hint">{t('sameSource')}</p>
  return (
    <details className="hint">
      <summary>
        <ShortLabel text={t('changes', { count: changes.length })} name={name} />
      </summary>
      <pre className="version-changes">{changes.join('\n')}</pre>
    </details>
  )
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`
