import type { CompleteCatalog } from '../../pages/english.ts';

export const MESSAGES: CompleteCatalog = {
  'sign_in.title': 'تسجيل الدخول',
  'sign_in.again': 'أكّد هويتك',
  'sign_in.to': 'للمتابعة إلى {client}',
  'sign_in.to_unverified': 'للمتابعة إلى {client} (لم يتحقق منه {server})',
  'sign_in.identifier': 'عنوان البريد الإلكتروني',
  'sign_in.password': 'كلمة المرور',
  'sign_in.show_password': 'إظهار كلمة المرور',
  'sign_in.hide_password': 'إخفاء كلمة المرور',
  'sign_in.submit': 'تسجيل الدخول',
  'sign_in.forgot_password': 'هل نسيت كلمة المرور؟',
  'sign_in.terms': 'شروط الاستخدام',
  'sign_in.wrong': 'عنوان البريد الإلكتروني أو كلمة المرور غير صحيحة.',
  'sign_in.stale':
    'ظلت هذه الصفحة مفتوحة لوقت طويل جدًا أو في علامات تبويب كثيرة جدًا. يُرجى تسجيل الدخول ' +
    'مرة أخرى.',
  'sign_in.slowed': {
    zero:
      'محاولات تسجيل الدخول الفاشلة كثيرة جدًا. لم يتم التحقق من كلمة المرور: يُرجى إعادة ' +
      'المحاولة الآن.',
    one:
      'محاولات تسجيل الدخول الفاشلة كثيرة جدًا. لم يتم التحقق من كلمة المرور: يُرجى إعادة ' +
      'المحاولة بعد ثانية واحدة.',
    two:
      'محاولات تسجيل الدخول الفاشلة كثيرة جدًا. لم يتم التحقق من كلمة المرور: يُرجى إعادة ' +
      'المحاولة بعد ثانيتين.',
    few:
      'محاولات تسجيل الدخول الفاشلة كثيرة جدًا. لم يتم التحقق من كلمة المرور: يُرجى إعادة ' +
      'المحاولة بعد {count} ثوانٍ.',
    many:
      'محاولات تسجيل الدخول الفاشلة كثيرة جدًا. لم يتم التحقق من كلمة المرور: يُرجى إعادة ' +
      'المحاولة بعد {count} ثانية.',
    other:
      'محاولات تسجيل الدخول الفاشلة كثيرة جدًا. لم يتم التحقق من كلمة المرور: يُرجى إعادة ' +
      'المحاولة بعد {count} ثانية.',
  },
  'sign_in.overloaded':
    'عدد كبير جدًا من الأشخاص يسجّلون الدخول في هذه اللحظة. يُرجى إعادة المحاولة بعد بضع ثوانٍ.',

  'client.on_this_computer': 'برنامج على هذا الكمبيوتر',
  'client.on_this_device': 'تطبيق على هذا الجهاز',
  'client.not_verified': '{client} (لم يتم التحقق منه)',
  'person.unnamed': 'هذا الحساب',
  'scope.openid.label': 'تأكيد هويتك',
  'scope.profile.label': 'الاطّلاع على ملفك الشخصي، مثل اسمك',
  'scope.email.label': 'الاطّلاع على عنوان بريدك الإلكتروني',
  'scopes.identity': 'هويتك',
  'scopes.read': 'الاطّلاع',
  'scopes.change': 'التغيير',

  'consent.page': 'هل تسمح بوصول {client}؟',
  'consent.title': 'هل تسمح بأن يستخدم {client} حسابك في {server}؟',
  'consent.not_verified': 'لم يتحقق منه {server}.',
  'consent.anyone': 'يمكن لأي شخص إنشاء تطبيق واختيار اسمه.',
  'consent.calls_itself': 'يسمّي نفسه: {name}',
  'consent.called_like_server': 'قد يُخلط بين اسمه وبين {server}. وهو ليس {server}.',
  'consent.not_server': 'هذا ليس {server} نفسه.',
  'consent.another_application': 'إنه تطبيق آخر باسم مشابه.',
  'consent.signed_in_as': 'تم تسجيل الدخول باسم {person}',
  'consent.switch': 'ليس حسابك؟',
  'consent.at_resource': 'للاستخدام مع {resource}',
  'consent.scopes': 'سيتمكّن التطبيق من:',
  'consent.new_scopes': 'جديد: سيتمكّن التطبيق أيضًا من:',
  'consent.nothing_new': 'لا يطلب التطبيق أي إذن وصول جديد',
  'consent.granted_before': {
    other: 'يحتفظ التطبيق بما سمحت به سابقًا ({count})',
  },
  'consent.leave_out': 'ألغِ تحديد ما لا تريد السماح به.',
  'consent.addable': 'يمكنك السماح أيضًا بما يلي:',
  'consent.lasts':
    'يستمر الوصول إلى أن تزيله، أو إلى أن تمر المدة التالية دون أن يستخدمه التطبيق: {time}.',
  'consent.lasts_once': 'مدة الوصول القصوى: {time}.',
  'consent.take_back': 'يمكنك إزالته في أي وقت:',
  'consent.new_tab': '(يُفتح في علامة تبويب جديدة)',
  'consent.sent_to': 'في الحالتين سيتم توجيهك إلى {host}. لا تسمح إلا للتطبيقات التي تثق بها.',
  'consent.answer_to_site':
    'إذا سمحت بالوصول، فسيتم توجيهك إلى {host}. لا تسمح إلا إذا كنت قد بدأت من هناك.',
  'consent.answer_to_other_site':
    'إذا سمحت بالوصول، فسيتم توجيهك إلى {host}، وهو موقع مختلف عن {client}. لا تسمح إلا إذا ' +
    'كنت قد بدأت من {host}.',
  'consent.answer_to_device':
    'في الحالتين سيتم توجيهك إلى {host}. لا تسمح إلا إذا كنت قد بدأت ذلك بنفسك للتو.',
  'consent.answer_to_device_of_site':
    'في الحالتين سيتم توجيهك إلى {host}. ويمكن لبرامج أخرى هناك أيضًا أن تنتحل صفة {client}. ' +
    'لا تسمح إلا إذا كنت قد بدأت ذلك بنفسك للتو.',
  'consent.deny': 'رفض',
  'consent.allow': 'السماح',

  'device.page': 'ربط جهاز',
  'device.title': 'ربط جهاز بحسابك على {server}',
  'device.enter': 'أدخل الرمز الذي يعرضه جهازك.',
  'device.compare':
    'هل يعرض جهازك هذا الرمز الآن؟ تابع فقط إذا كان يعرضه. إذا أرسل إليك شخص ما الرابط، ' +
    'فأغلق هذه الصفحة.',
  'device.code': 'الرمز على الجهاز',
  'device.continue': 'متابعة',
  'device.mistyped': 'هذا الرمز غير صالح. تحقق من كل حرف.',
  'device.unknown': 'هذا الرمز غير معروف أو انتهت صلاحيته. ابدأ من جديد على جهازك.',
  'device.slowed': 'عدد كبير جدًا من الرموز الخاطئة. انتظر لحظة، ثم حاول مرة أخرى.',
  'device.only_yours': 'تابع فقط إذا بدأت هذا على جهازك أنت.',
  'device.never_from_others':
    'إذا أرسل إليك شخص ما الرمز أو الرابط، فاختر «رفض». وإذا سمحت، فسيحصل هذا الشخص على إذن ' +
    'الوصول إلى حسابك.',
  'device.began': 'بدأ هذا {when}، من العنوان {address}.',
  'device.began_somewhere': 'بدأ هذا {when}.',
  'device.shows': 'يجب أن يعرض جهازك الرمز {code}.',
  'device.allowed.title': 'تم ربط جهازك',
  'device.allowed.message': 'ارجع إلى جهازك. يمكنك إغلاق هذه الصفحة.',
  'device.denied.title': 'تم رفض الوصول',
  'device.denied.message': 'لن يحصل الجهاز على إذن الوصول. يمكنك إغلاق هذه الصفحة.',
  'device.nothing.title': 'لا يوجد ما يمكن السماح به',
  'device.nothing.message': 'ليس لحسابك أي من الأذونات التي يطلبها {client}.',
  'logout.page': 'تسجيل الخروج',
  'logout.title': 'هل تريد تسجيل الخروج من {server}؟',
  'logout.asked_by': 'يطلب منك {client} تسجيل الخروج.',
  'logout.confirm': 'تسجيل الخروج',
  'logout.stay': 'البقاء مسجّل الدخول',
  'logout.done.title': 'تم تسجيل خروجك',
  'logout.done.message': 'يمكنك إغلاق هذه الصفحة.',
  'logout.stayed.title': 'ما زلت مسجّل الدخول',
  'logout.stayed.message': 'لم يتغيّر شيء. يمكنك إغلاق هذه الصفحة.',
  'logout.not_valid.title': 'لا يمكنك تسجيل الخروج بهذه الطريقة',
  'logout.not_valid.message': 'أرسل التطبيق طلبًا غير صالح. لم يتغيّر شيء.',
  'response.title': 'المتابعة إلى {host}',
  'response.message': 'يتم الآن نقلك إلى هناك. إذا لم يحدث شيء، فاضغط على الزر.',
  'response.continue': 'متابعة',

  'applications.page': 'التطبيقات المصرّح لها بالوصول',
  'applications.title': 'التطبيقات المصرّح لها بالوصول إلى حسابك',
  'applications.removed': 'تمت إزالة إذن الوصول: لم يعد بإمكان هذا التطبيق التصرّف نيابةً عنك.',
  'applications.signed_in_as': 'تم تسجيل الدخول باسم {person}.',
  'applications.none': 'لا يوجد أي تطبيق مصرّح له بالوصول.',
  'applications.not_verified': 'لم يتحقق منه {server}.',
  'applications.calls_itself': 'يسمّي نفسه: {name}',
  'applications.since': 'مصرّح له منذ {date}',
  'applications.given_by': 'منحت مؤسستك إذن الوصول هذا ({issuer})',
  'applications.last_active': 'آخر نشاط: {date}',
  'applications.answered_at': 'يعيدك إلى: {places}',
  'applications.can': { other: 'ما يمكنه فعله ({count})' },
  'applications.nothing_now':
    'لا يمكنه فعل شيء في الوقت الحالي، لأنك لا تملك أيًّا من الأذونات التي طلبها.',
  'applications.remove': 'إزالة إذن الوصول',
  'applications.remove_of': 'الممنوح إلى {client}',
  'applications.removed_all':
    'تمت إزالة إذن الوصول: لم يعد بإمكان أيٍّ من هذه التطبيقات التصرّف نيابةً عنك.',
  'applications.remove_all': 'إزالة الكل',
  'applications.confirm_page': 'هل تريد إزالة كل أذونات الوصول؟',
  'applications.confirm_title': 'هل تريد إزالة إذن الوصول من جميع التطبيقات؟',
  'applications.confirm_all': {
    other:
      'إذا تابعت، فإن عدد التطبيقات التي لن يكون بإمكانها التصرّف نيابةً عنك هو: {count}. ' +
      'وعلى كل تطبيق أن يطلب إذنك من جديد عند استخدامه في المرة القادمة.',
  },
  'applications.keep': 'الاحتفاظ بها',
  'applications.back': 'العودة إلى {server}',

  'error.back':
    'إذا وصلت إلى هنا عبر رابط، فارجع إلى التطبيق وأعِد المحاولة. وإذا استمر ذلك، فأبلِغ الجهة ' +
    'المطوّرة للتطبيق.',
  'error.request_id': 'معرّف الطلب: {id}',
  'error.not_found.title': 'لم يتم العثور على الصفحة',
  'error.not_found.message':
    'لا توجد صفحة على هذا العنوان. ربما كان العنوان خاطئًا أو تم نقل الصفحة.',
  'error.too_large.title': 'الطلب كبير جدًا',
  'error.too_large.message': 'ما أرسلته من بيانات أكبر مما يقبله هذا الموقع.',
  'error.unavailable.title': 'يُرجى إعادة المحاولة بعد قليل',
  'error.unavailable.message': 'لا يمكن لهذا الموقع الرد الآن. انتظر قليلًا ثم أعِد المحاولة.',
  'error.refused.title': 'تم رفض الطلب',
  'error.refused.message': 'لم يُقبل هذا الطلب. ارجع وأعِد تحميل الصفحة ثم حاوِل مرة أخرى.',
  'error.failed.title': 'حدث خطأ',
  'error.failed.message': 'الخطأ من جهتنا وقد تم تسجيله. إذا تكرر، فأرسِل إلينا معرّف الطلب أدناه.',
  'error.fault.title': 'حدث خطأ',
  'error.fault.message': 'الخطأ من جهتنا وقد تم تسجيله. ارجع إلى التطبيق وابدأ من جديد.',
  'error.unknown_client.title': 'تطبيق غير معروف',
  'error.unknown_client.message': 'الرابط الذي أتى بك إلى هنا يخص تطبيقًا لا يعرفه {server}.',
  'error.untaken_client.title': 'تطبيق غير معروف',
  'error.untaken_client.message': 'الرابط الذي أتى بك إلى هنا يخص تطبيقًا لا يقبله {server}.',
  'error.unread_client.title': 'تطبيق غير معروف',
  'error.unread_client.message':
    'التطبيق الذي أتى بك إلى هنا يدّعي أنه {host}، لكن {server} لم يتمكّن من قراءة وصفه ' +
    'هناك. لم تتم مشاركة أي شيء.',
  'error.client_against_rules.title': 'لا يمكن لهذا التطبيق الحصول على إذن وصول الآن',
  'error.client_against_rules.message':
    'لا يستوفي {client} قواعد {server} حاليًا. لم تتم مشاركة أي شيء.',
  'error.unverified_client_against_rules.title': 'لا يمكن لهذا التطبيق الحصول على إذن وصول الآن',
  'error.unverified_client_against_rules.message':
    'التطبيق الذي أتى بك إلى هنا لا يستوفي قواعد {server} حاليًا. لم تتم مشاركة أي شيء.',
  'error.unregistered_address.title': 'عنوان العودة غير مسجّل',
  'error.unregistered_address.message':
    'طلب {client} إعادتك إلى عنوان غير مسجّل لهذا التطبيق، ولذلك لم يتم توجيهك إليه.',
  'error.unverified_unregistered_address.title': 'عنوان العودة غير مسجّل',
  'error.unverified_unregistered_address.message':
    'طلب تطبيق لم يتم التحقق منه إعادتك إلى عنوان غير مسجّل له، ولذلك لم يتم توجيهك إليه.',
  'error.link_used.title': 'لم يعد بالإمكان استخدام هذا الرابط',
  'error.link_used.message': 'كان صالحًا لوقت قصير ولرد واحد فقط. ارجع إلى التطبيق وابدأ من جديد.',
  'error.too_many_waiting.title': 'عدد الطلبات المنتظرة كبير جدًا',
  'error.too_many_waiting.message':
    'هذا الطلب طويل ولا يوجد متسع له الآن. ارجع إلى التطبيق وابدأ من جديد بعد دقيقة، أو سجّل ' +
    'الدخول هنا أولًا.',
  'error.not_answerable.title': 'لم يعد بالإمكان الرد على هذا الطلب',
  'error.not_answerable.message':
    'تم الرد عليه من قبل، أو انتهت صلاحيته، أو يخص متصفحًا آخر أو شخصًا آخر. لم يُقبل ردك. ' +
    'ارجع إلى التطبيق وابدأ من جديد.',
  'error.allowed_before.title': 'لقد رددت على هذا الطلب من قبل',
  'error.allowed_before.message':
    'لقد سمحت به. تعرض صفحة التطبيقات ({path}) التطبيقات المصرّح لها بالوصول إلى حسابك. ' +
    'ويمكنك هناك إزالة إذن الوصول.',
  'error.denied_before.title': 'لقد رددت على هذا الطلب من قبل',
  'error.denied_before.message':
    'لقد رفضته ولم تتم مشاركة أي شيء. تعرض صفحة التطبيقات ({path}) التطبيقات المصرّح لها ' +
    'بالوصول إلى حسابك. ويمكنك هناك إزالة إذن الوصول.',
  'error.answer_not_accepted.title': 'لم يُقبل هذا الرد',
  'error.answer_not_accepted.message':
    'لم يأتِ من الصفحة التي طرحت السؤال، أو سجّل شخص آخر الدخول منذ ذلك الحين. ارجع إلى ' +
    'التطبيق وابدأ من جديد.',
  'error.not_signed_in.title': 'لم تسجّل الدخول',
  'error.not_signed_in.message': 'لم يُقبل ردك. ارجع إلى التطبيق وابدأ من جديد.',
  'error.not_clear.title': 'هذا الطلب غير واضح',
  'error.not_clear.message': 'يحتوي على طلب ورد في الوقت نفسه. ارجع إلى التطبيق وابدأ من جديد.',
  'error.sign_out_first.title': 'سجّل الخروج من {server} أولًا',
  'error.sign_out_first.message':
    'انتهى هذا الطلب ولم تتم مشاركة أي شيء. سجّل الخروج في علامة تبويب أخرى. ثم تابِع هنا ' +
    'وسجّل الدخول بحسابك.',
  'error.sign_out_first.link': 'المتابعة كشخص آخر',
  'error.nothing_shared.title': 'لم تتم مشاركة أي شيء',
  'error.nothing_shared.message':
    'لم يحصل التطبيق الذي أتى بك إلى هنا على إذن الوصول إلى حسابك. وقد طلب إعادتك إلى {host}، ' +
    'وهو موقع لم يتحقق منه {server}. لا تذهب إليه إلا إذا كنت قد بدأت منه.',
  'error.nothing_shared.link': 'العودة إلى {host}',
  'error.removal_not_accepted.title': 'لم يُقبل هذا الطلب',
  'error.removal_not_accepted.message':
    'لم يأتِ هذا الطلب من صفحة التطبيقات الخاصة بك، أو سجّل شخص آخر الدخول منذ ذلك الحين. لم ' +
    'يتغيّر أي شيء. افتح الصفحة مرة أخرى.',
};
