import { useMemo } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { RelativeTime, Day } from '#/admin/relative-time.tsx'
import { columnsFor, type Columns } from '#/admin/table/columns.ts'
import { TypeName } from '#/components/type-name.tsx'
import type { Tone } from '#/containers/container-status.ts'

const column = columnsFor<ListedContainer>()

const tones: Readonly<Record<ListedContainer['status'], Tone>> = {
  running: 'good',
  paused: 'idle',
  stopped: 'idle',
  missing: 'idle',
  failed: 'bad',
  unknown: 'idle',
}

export function useContainerColumns(): Columns<ListedContainer> {
  const t = useTranslations('admin.containers')
  return useMemo(
    () =>
      [
        column.accessor('email', {
          meta: { label: t('columns.email'), isRowHeader: true },
          cell: ({ getValue }) => <span className="name">{getValue()}</span>,
        }),
        column.accessor('container_type', {
          meta: { label: t('columns.container_type') },
          enableSorting: false,
          cell: ({ getValue }) => (
            <span className="name">
              <TypeName type={getValue()} />
            </span>
          ),
        }),
        column.accessor('status', {
          meta: { label: t('columns.status') },
          enableSorting: false,
          cell: ({ row: { original } }) => <ContainerState container={original} />,
        }),
        column.accessor('template_image', {
          meta: { label: t('columns.template_image') },
          enableSorting: false,
          cell: ({ getValue }) => (
            // Images differ at the end of their name.
            <span className="path" title={getValue()}>
              {getValue().replace(/^.*\//, '')}
            </span>
          ),
        }),
        column.accessor('last_used', {
          meta: { label: t('columns.last_used') },
          sortDescFirst: true,
          cell: ({ getValue }) => <RelativeTime at={getValue()} />,
        }),
        column.accessor('created_at', {
          meta: { label: t('columns.created_at') },
          sortDescFirst: true,
          cell: ({ getValue }) => <Day at={getValue()} />,
        }),
      ] as Columns<ListedContainer>,
    [t],
  )
}

/** The status of a container in a word; the dot repeats it. */
function ContainerState({ container: { status, is_blocked } }: { container: ListedContainer }) {
  const t = useTranslations('admin.containers')
  return (
    <span className="tags">
      {is_blocked && <span className="tag bad">{t('blocked')}</span>}
      <span className={`state ${tones[status]}`}>
        <span className="dot" aria-hidden />
        {t(`statuses.${status}`)}
      </span>
    </span>
  )
}
