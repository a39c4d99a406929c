import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ArchivesResponse } from '@berth/api/schemas/groups/term-end.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { downloadFrom } from '#/components/download-file.ts'
import { QueryState } from '#/components/query-state.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { archive } from '#/messages/archive.ts'
import { Page } from '#/page/page.tsx'
import { tokenIn, useLocation } from '#/router/router.ts'
import { useSize } from './use-size.ts'

/**
 * The target of mailed links to archives of homes, for people who may have no account any more. Opening it downloads
 * nothing, because mail scanners open pages, too; the buttons do.
 */
export const Archive = withTexts({ archive }, function ArchivePage() {
  const token = tokenIn(useLocation().state)
  return token === undefined ? <Incomplete /> : <Archives token={token} />
})

function Incomplete() {
  const t = useTranslations('archive')
  return (
    <Page title={t('title')} width="narrow">
      <p>{t('incomplete')}</p>
    </Page>
  )
}

function Archives({ token }: { token: string }) {
  const t = useTranslations('archive')
  const query = useQuery({
    queryKey: ['archives', token],
    queryFn: ({ signal }) => createApiClient(signal).listArchives({ body: { token } }),
    gcTime: 0,
  })
  return (
    <Page title={t('title')} width="narrow">
      <QueryState query={query} />
      {query.data && (
        <>
          <p>{t('lead', { group: query.data.group })}</p>
          <p>{t.rich('until', { at: rich.time(query.data.keep_until) })}</p>
          {query.data.archives.length === 0 && <p>{t('none')}</p>}
          <ul className="rows">
            {query.data.archives.map((each) => (
              <ArchiveRow key={each.type} token={token} archive={each} />
            ))}
          </ul>
        </>
      )}
    </Page>
  )
}

function ArchiveRow({ token, archive }: { token: string; archive: ArchivesResponse['archives'][number] }) {
  const t = useTranslations('archive')
  const writeSize = useSize()
  const { busy, error, run } = useTask()
  const [hasBegun, setBegun] = useState(false)
  const { type, display_name: name, bytes } = archive

  const download = () =>
    run(async (signal) => {
      const { path } = await createApiClient(signal).beginArchiveDownload({ body: { token, type } })
      downloadFrom(path)
      setBegun(true)
    })

  return (
    <li className="row">
      <div>
        <h2 className="address">{name}</h2>
        <p className="hint">{t('size', { size: writeSize(bytes) })}</p>
      </div>
      <Button variant="primary" isOff={busy} onPress={() => void download()}>
        <ShortLabel text={t('download')} name={t('downloadThis', { type: name })} />
      </Button>
      <Alert error={error} />
      <p role="status" className="hint">
        {hasBegun && t('begun')}
      </p>
    </li>
  )
}
