import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { AdminPage } from '#/admin/admin-page.tsx'
import { BlockContainerDialog, DeleteContainerDialog } from '#/admin/containers/container-dialogs.tsx'
import { containersView, containerSource } from '#/admin/containers/container-list.ts'
import { useContainerActions } from '#/admin/containers/use-container-actions.ts'
import { useContainerBulk } from '#/admin/containers/use-container-bulk.ts'
import { useContainerChoices } from '#/admin/containers/use-container-choices.ts'
import { useContainerColumns } from '#/admin/containers/use-container-columns.tsx'
import { focusRows } from '#/admin/table/use-row-focus.ts'
import type { ListKind } from '#/admin/list/list-kind.ts'
import { ListPage } from '#/admin/list/list-page.tsx'
import { useListText } from '#/admin/list/use-list-text.ts'
import { useView } from '#/admin/list/use-view.ts'
import { useTypeName } from '#/components/type-name.tsx'
import { pages } from '#/paths.ts'

/** All containers: search, filter, sort, block, unblock and delete. */
export function Containers() {
  const t = useTranslations('admin.containers')
  const shell = useTranslations('admin.shell')
  const words = useListText('admin.containers')
  const nameOf = useTypeName()
  const view = useView(containersView)
  const [open, setOpen] = useState<{ name: 'block' | 'delete'; container: ListedContainer }>()
  const columns = useContainerColumns()
  const choices = useContainerChoices(view.container_type)
  const bulk = useContainerBulk()
  const actions = useContainerActions((name, container) => setOpen({ name, container }))

  const kind: ListKind<ListedContainer> = {
    path: pages.adminContainers,
    className: 'containers',
    source: containerSource,
    columns,
    choices,
    bulk,
    targetOf: ({ id, email, container_type: type, is_blocked }) => ({
      id,
      name: t('name', { type: nameOf(type), email }),
      isBlocked: is_blocked,
    }),
    isLeftOut: () => false,
    actionsOf: actions.of,
    text: {
      ...words,
      noMatch: [t('noMatch'), t('noMatchHint')],
      none: [t('none'), t('noneHint')],
    },
  }

  function close() {
    setOpen(undefined)
    focusRows()
  }

  return (
    <AdminPage title={shell('containers')}>
      <ListPage kind={kind} view={view} />
      {open?.name === 'block' && (
        <BlockContainerDialog
          container={open.container}
          run={(signal) => actions.block(open.container, signal)}
          onClose={close}
        />
      )}
      {open?.name === 'delete' && (
        <DeleteContainerDialog container={open.container} onGone={() => actions.gone(open.container)} onClose={close} />
      )}
    </AdminPage>
  )
}
