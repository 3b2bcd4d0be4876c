import type { CompleteCatalog } from '../../pages/english.ts';

export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'ログイン',
  'sign_in.again': 'ご本人であることの確認',
  'sign_in.to': 'ログイン後、{client} に進みます',
  'sign_in.to_unverified': 'ログイン後、{client}（{server} は未確認）に進みます',
  'sign_in.identifier': 'メールアドレス',
  'sign_in.password': 'パスワード',
  'sign_in.show_password': 'パスワードを表示',
  'sign_in.hide_password': 'パスワードを隠す',
  'sign_in.submit': 'ログイン',
  'sign_in.forgot_password': 'パスワードをお忘れですか？',
  'sign_in.terms': '利用規約',
  'sign_in.wrong': 'メールアドレスまたはパスワードが正しくありません。',
  'sign_in.stale':
    'このページは開いてから時間が経ちすぎたか、開いているタブが多すぎます。もう一度ログインしてください。',
  'sign_in.slowed': {
    other:
      'ログインの失敗が多すぎます。パスワードは確認されませんでした。{count} 秒後にもう一度お試しください。',
  },
  'sign_in.overloaded': 'ただいまログインが集中しています。数秒後にもう一度お試しください。',

  'client.on_this_computer': 'このコンピューター上のプログラム',
  'client.on_this_device': 'このデバイス上のアプリ',
  'client.not_verified': '{client}（未確認）',
  'person.unnamed': 'このアカウント',
  'scope.openid.label': '本人であることの確認',
  'scope.profile.label': 'お名前などのプロフィールの表示',
  'scope.email.label': 'メールアドレスの表示',
  'scopes.identity': '本人に関する情報',
  'scopes.read': '表示',
  'scopes.change': '変更',

  'consent.page': '{client} を許可しますか？',
  'consent.title': '{client} に {server} アカウントの使用を許可しますか？',
  'consent.not_verified': '{server} はこのアプリを確認していません。',
  'consent.anyone': 'アプリは誰でも作成でき、名前も自由に付けられます。',
  'consent.calls_itself': 'アプリが名乗っている名前：{name}',
  'consent.called_like_server':
    'このアプリの名前は {server} と紛らわしいものです。このアプリは {server} ではありません。',
  'consent.not_server': 'これは {server} 自体ではありません。',
  'consent.another_application': '似た名前の別のアプリです。',
  'consent.signed_in_as': '{person} としてログイン中',
  'consent.switch': 'ご本人ではありませんか？',
  'consent.at_resource': '利用先：{resource}',
  'consent.scopes': 'このアプリに許可される操作',
  'consent.new_scopes': '新たに許可される操作',
  'consent.nothing_new': '新しいアクセス権は求められていません',
  'consent.granted_before': {
    other: '以前に許可した操作は引き続き有効です（{count} 件）',
  },
  'consent.leave_out': '許可しない項目のチェックを外してください。',
  'consent.addable': '追加で許可できる操作',
  'consent.lasts': 'アクセス権は、あなたが削除するまで、または {time}使われなくなるまで有効です。',
  'consent.lasts_once': 'アクセス権は最長で {time}有効です。',
  'consent.take_back': 'いつでも削除できます：',
  'consent.new_tab': '（新しいタブで開きます）',
  'consent.sent_to':
    '許可しても拒否しても {host} に移動します。信頼できるアプリのみ許可してください。',
  'consent.answer_to_site':
    '許可すると、{host} に移動します。そのサイトで操作を始めた場合にのみ許可してください。',
  'consent.answer_to_other_site':
    '許可すると、{client} とは別のサイトである {host} に移動します。{host} で操作を始めた場合にのみ許可してください。',
  'consent.answer_to_device':
    '許可しても拒否しても、{host}に移動します。たった今ご自身で開始した場合にのみ許可してください。',
  'consent.answer_to_device_of_site':
    '許可しても拒否しても、{host}に移動します。そこでは別のプログラムが {client} を名乗ることもできます。たった今ご自身で開始した場合にのみ許可してください。',
  'consent.deny': '拒否',
  'consent.allow': '許可',

  'device.page': 'デバイスを接続',
  'device.title': '{server} のアカウントにデバイスを接続',
  'device.enter': 'デバイスに表示されているコードを入力してください。',
  'device.compare':
    '今、デバイスにこのコードが表示されていますか？表示されている場合のみ続行してください。誰かからリンクが送られてきた場合は、このページを閉じてください。',
  'device.code': 'デバイスのコード',
  'device.continue': '続行',
  'device.mistyped': '有効なコードではありません。1 文字ずつ確認してください。',
  'device.unknown':
    'このコードは不明か、有効期限が切れています。デバイスで最初からやり直してください。',
  'device.slowed': '間違ったコードが多すぎます。しばらく待ってから、もう一度お試しください。',
  'device.only_yours': 'ご自身のデバイスで開始した場合にのみ続行してください。',
  'device.never_from_others':
    '誰かからコードまたはリンクが送られてきた場合は、「拒否」を選択してください。許可すると、その人があなたのアカウントにアクセスできるようになります。',
  'device.began': '開始: {when}、アドレス: {address}',
  'device.began_somewhere': '開始: {when}',
  'device.shows': 'デバイスにコード {code} が表示されている必要があります。',
  'device.allowed.title': 'デバイスが接続されました',
  'device.allowed.message': 'デバイスに戻ってください。このページは閉じてかまいません。',
  'device.denied.title': 'アクセスを拒否しました',
  'device.denied.message': 'デバイスはアクセスできません。このページは閉じてかまいません。',
  'device.nothing.title': '許可できるものがありません',
  'device.nothing.message': '{client} が求める権限は、あなたのアカウントにはありません。',
  'logout.page': 'ログアウト',
  'logout.title': '{server}からログアウトしますか？',
  'logout.asked_by': '{client}がログアウトを求めています。',
  'logout.confirm': 'ログアウト',
  'logout.stay': 'ログインしたままにする',
  'logout.done.title': 'ログアウトしました',
  'logout.done.message': 'このページを閉じてもかまいません。',
  'logout.stayed.title': 'ログインしたままです',
  'logout.stayed.message': '何も変更されていません。このページを閉じてもかまいません。',
  'logout.not_valid.title': 'この方法ではログアウトできません',
  'logout.not_valid.message': 'アプリが無効なリクエストを送信しました。何も変更されていません。',
  'response.title': '{host} に進む',
  'response.message': '移動しています。何も起こらない場合は、ボタンを押してください。',
  'response.continue': '続行',

  'applications.page': 'アクセス権のあるアプリ',
  'applications.title': 'アカウントへのアクセス権があるアプリ',
  'applications.removed':
    'アクセス権を削除しました。このアプリは今後、あなたの代わりに操作できません。',
  'applications.signed_in_as': '{person} としてログインしています。',
  'applications.none': 'アクセス権のあるアプリはありません。',
  'applications.not_verified': '{server} はこのアプリを確認していません。',
  'applications.calls_itself': 'アプリが名乗っている名前：{name}',
  'applications.since': '許可した日：{date}',
  'applications.given_by': 'このアクセス権は所属組織が許可しました（{issuer}）',
  'applications.last_active': '最後に使われた日：{date}',
  'applications.answered_at': '戻り先：{places}',
  'applications.can': { other: '許可されている操作（{count} 件）' },
  'applications.nothing_now':
    'このアプリが求めた権限をお持ちではないため、現在できることはありません。',
  'applications.remove': 'アクセス権を削除',
  'applications.remove_of': '（{client}）',
  'applications.removed_all':
    'アクセス権を削除しました。これらのアプリは今後、あなたの代わりに操作できません。',
  'applications.remove_all': 'すべて削除',
  'applications.confirm_page': 'すべてのアクセス権を削除しますか？',
  'applications.confirm_title': 'すべてのアプリのアクセス権を削除しますか？',
  'applications.confirm_all': {
    other:
      '続行すると、{count} 個のアプリがあなたの代わりに操作できなくなります。次に使うときには、それぞれ改めて許可が必要です。',
  },
  'applications.keep': '削除しない',
  'applications.back': '{server} に戻る',

  'error.back':
    'リンクからこのページに来た場合は、アプリに戻ってもう一度お試しください。問題が続く場合は、そのアプリの提供元にお知らせください。',
  'error.request_id': 'リクエスト ID：{id}',
  'error.not_found.title': 'ページが見つかりません',
  'error.not_found.message':
    'このアドレスにページはありません。アドレスに誤りがあるか、ページが移動した可能性があります。',
  'error.too_large.title': '要求が大きすぎます',
  'error.too_large.message': '送信されたデータは、このサイトが受け付ける大きさを超えています。',
  'error.unavailable.title': 'しばらくしてからもう一度お試しください',
  'error.unavailable.message':
    '現在、このサイトは応答できません。少し待ってから、もう一度お試しください。',
  'error.refused.title': '要求は拒否されました',
  'error.refused.message':
    'この要求は受け付けられませんでした。前のページに戻り、再読み込みしてからもう一度お試しください。',
  'error.failed.title': '問題が発生しました',
  'error.failed.message':
    'こちら側の不具合です。内容は記録されました。再び発生した場合は、下のリクエスト ID をお送りください。',
  'error.fault.title': '問題が発生しました',
  'error.fault.message':
    'こちら側の不具合です。内容は記録されました。アプリに戻り、最初からやり直してください。',
  'error.unknown_client.title': '不明なアプリ',
  'error.unknown_client.message': 'リンク元のアプリは、{server} に登録されていません。',
  'error.untaken_client.title': '不明なアプリ',
  'error.untaken_client.message': 'リンク元のアプリは、{server} では受け付けられません。',
  'error.unread_client.title': '不明なアプリ',
  'error.unread_client.message':
    'リンク元のアプリは {host} だと名乗っていますが、{server} はそこでアプリの情報を読み取れませんでした。情報は何も共有されていません。',
  'error.client_against_rules.title': '現在、このアプリはアクセス権を取得できません',
  'error.client_against_rules.message':
    '{client} は、{server} が求める条件を現在満たしていません。情報は何も共有されていません。',
  'error.unverified_client_against_rules.title': '現在、このアプリはアクセス権を取得できません',
  'error.unverified_client_against_rules.message':
    'リンク元のアプリは、{server} が求める条件を現在満たしていません。情報は何も共有されていません。',
  'error.unregistered_address.title': '戻り先のアドレスが登録されていません',
  'error.unregistered_address.message':
    '{client} は、このアプリに登録されていないアドレスへ戻すよう求めました。そのため、そこには移動しませんでした。',
  'error.unverified_unregistered_address.title': '戻り先のアドレスが登録されていません',
  'error.unverified_unregistered_address.message':
    '未確認のアプリが、登録されていないアドレスへ戻すよう求めました。そのため、そこには移動しませんでした。',
  'error.link_used.title': 'このリンクは使用できなくなりました',
  'error.link_used.message':
    'このリンクは短時間、一度の回答にのみ有効でした。アプリに戻り、最初からやり直してください。',
  'error.too_many_waiting.title': '待機中の要求が多すぎます',
  'error.too_many_waiting.message':
    'この要求は長く、現在受け付ける余裕がありません。1 分後にアプリに戻ってやり直すか、先にここでログインしてください。',
  'error.not_answerable.title': 'この要求にはもう回答できません',
  'error.not_answerable.message':
    'すでに回答済みか、期限切れか、別のブラウザーまたは別の人への要求です。回答は受け付けられませんでした。アプリに戻り、最初からやり直してください。',
  'error.allowed_before.title': 'この要求にはすでに回答しています',
  'error.allowed_before.message':
    '許可しました。アカウントへのアクセス権があるアプリは、アプリのページ（{path}）で確認できます。アクセス権はそこで削除できます。',
  'error.denied_before.title': 'この要求にはすでに回答しています',
  'error.denied_before.message':
    '拒否したため、情報は何も共有されていません。アカウントへのアクセス権があるアプリは、アプリのページ（{path}）で確認できます。アクセス権はそこで削除できます。',
  'error.answer_not_accepted.title': 'この回答は受け付けられませんでした',
  'error.answer_not_accepted.message':
    '確認のページから送られたものではないか、その後に別の人がログインしました。アプリに戻り、最初からやり直してください。',
  'error.not_signed_in.title': 'ログインしていません',
  'error.not_signed_in.message':
    '回答は受け付けられませんでした。アプリに戻り、最初からやり直してください。',
  'error.not_clear.title': '要求の内容が明確ではありません',
  'error.not_clear.message':
    '要求と回答の両方が含まれています。アプリに戻り、最初からやり直してください。',
  'error.sign_out_first.title': '先に {server} からログアウトしてください',
  'error.sign_out_first.message':
    'この要求は終了し、情報は何も共有されていません。別のタブでログアウトしてください。その後ここで続行し、ご自身のアカウントでログインしてください。',
  'error.sign_out_first.link': '別の人として続行',
  'error.nothing_shared.title': '情報は共有されていません',
  'error.nothing_shared.message':
    'リンク元のアプリには、アカウントへのアクセス権は与えられませんでした。アプリは {host} へ戻すよう求めましたが、{server} ' +
    'はこのサイトを確認していません。そこで操作を始めた場合にのみ移動してください。',
  'error.nothing_shared.link': '{host} に戻る',
  'error.removal_not_accepted.title': '要求は受け付けられませんでした',
  'error.removal_not_accepted.message':
    'アプリのページから送られたものではないか、その後に別の人がログインしました。何も変更されていません。ページを開き直してください。',
};
