import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { TemplatesResponse, UpdateContainersBody } from '@berth/api/schemas/administration/admin.ts'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { useTypeName, useTypes } from '#/components/type-name.tsx'
import { TypeSign } from '#/components/type-sign.tsx'
import { pages } from '#/paths.ts'
import { ActionDialog } from './action-dialog.tsx'
import { AdminPage, QueryError } from './admin-page.tsx'

/** The configured templates, and who runs an older version of one. */
export function Templates() {
  const t = useTranslations('admin')
  const query = useTemplates()
  return (
    <AdminPage title={t('shell.templates')}>
      <p className="hint about">{t('templates.about')}</p>
      <QueryError query={query} />
      {query.data && (
        <ul className="rows" aria-label={t('templates.list')}>
          {query.data.templates.map((template) => (
            <TemplateRow key={template.type} template={template} />
          ))}
        </ul>
      )}
    </AdminPage>
  )
}

type TemplateEntry = TemplatesResponse['templates'][number]
type UpdateMode = UpdateContainersBody['mode']

const modes: readonly UpdateMode[] = ['when_stopped', 'ask', 'now']

/** Containers of an older version whose owners may launch it. */
const countUpdatable = ({ older }: TemplateEntry) => older.filter((each) => !each.may_not_launch).length

/** Owners that are named; the page Containers has all. */
const maxNamed = 10

/** A template: its image, its version, and the containers of an older version with ways to bring them up to date. */
function TemplateRow({ template }: { template: TemplateEntry }) {
  const t = useTranslations('admin.templates')
  const [mode, setMode] = useState<UpdateMode>()
  const { type, version, older, environment_missing: missing } = template
  const name = useTypeName()(type)
  const icon = useTypes().data?.find((each) => each.type === type)?.icon
  return (
    <li className="row">
      <div className="template">
        <h2 className="sheet-name">
          <TypeSign icon={icon} />
          <span className="address">{name}</span>
        </h2>
        {name !== type && <p className="hint address">{type}</p>}
        {missing === undefined ? (
          <ImageFacts image={template.image} />
        ) : (
          <p className="note">
            {t('environmentMissing', { name: missing })}{' '}
            {boot.hasEnvironments && <Link to={pages.environments}>{t('environments')}</Link>}
          </p>
        )}
        <p className="hint">{t('version', { version })}</p>
        {older.length === 0 ? <p>{t('upToDate')}</p> : <Older template={template} />}
        {countUpdatable(template) > 0 && (
          <p className="actions">
            {modes.map((each) => (
              <Button key={each} variant="small" onPress={() => setMode(each)}>
                <ShortLabel text={t(`mode.${each}.open`)} name={t(`mode.${each}.openThis`, { type: name })} />
              </Button>
            ))}
          </p>
        )}
      </div>
      {mode && <UpdateDialog template={template} mode={mode} onClose={() => setMode(undefined)} />}
    </li>
  )
}

function ImageFacts({ image }: { image: TemplateEntry['image'] }) {
  const t = useTranslations('admin.templates')
  const { reference, id, digest, pulled_at } = image
  return (
    <ul className="dotted hint template-image">
      <li className="address">{reference}</li>
      {id === null && <li>{t('noImage')}</li>}
      {digest !== null && <li className="address">{digest}</li>}
      {pulled_at !== null && <li>{t.rich('pulled', { at: rich.time(pulled_at) })}</li>}
    </ul>
  )
}

function Older({ template: { type, older, asked } }: { template: TemplateEntry }) {
  const t = useTranslations('admin.templates')
  const more = older.length - maxNamed
  const name = useTypeName()(type)
  return (
    <>
      <p>
        {t('older', { count: older.length })} {asked > 0 && t('asked', { count: asked })}{' '}
        <Link to={addressOf(pages.adminContainers, { container_type: type })}>{t('all', { type: name })}</Link>
      </p>
      <ul className="dotted hint" aria-label={t('owners', { type: name })}>
        {older.slice(0, maxNamed).map(({ container_id, email, may_not_launch }) => (
          <li key={container_id} className="address">
            {may_not_launch ? t('mayNotLaunch', { email }) : email}
          </li>
        ))}
        {more > 0 && <li>{t('more', { count: String(more) })}</li>}
      </ul>
    </>
  )
}

interface UpdateDialogProps {
  template: TemplateEntry
  mode: UpdateMode
  onClose(): void
}

/** Says what an update does to the people who use the containers, and begins it. */
function UpdateDialog({ template, mode, onClose }: UpdateDialogProps) {
  const t = useTranslations('admin.templates.mode')
  const client = useQueryClient()
  const { notify } = useBulkJobs()
  const { type } = template
  async function run(signal: AbortSignal) {
    const params = { container_type: type }
    const { message } = await createApiClient(signal).updateContainersOf({ params, body: { mode } })
    notify({ title: message })
    await client.invalidateQueries({ queryKey: templatesKey })
  }
  return (
    <ActionDialog
      title={t(`${mode}.title`, { type: useTypeName()(type), count: countUpdatable(template) })}
      words={(key) => t(key === 'busy' ? 'busy' : `${mode}.open`)}
      isGrave={mode === 'now'}
      run={run}
      onClose={onClose}
    >
      <p>{t(`${mode}.effect`)}</p>
    </ActionDialog>
  )
}

const templatesKey = ['admin', 'templates']

/** Between two requests while the page is open, in ms: containers are replaced one after the other. */
const pollInterval = 10_000

/** All templates, with who runs an older version. */
function useTemplates() {
  return useQuery({
    queryKey: templatesKey,
    queryFn: ({ signal }) => createApiClient(signal).listTemplates(),
    refetchInterval: pollInterval,
    gcTime: 0,
  })
}
