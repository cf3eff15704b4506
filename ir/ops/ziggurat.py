"""The tables of the ziggurat method, as NumPy has them.

NumPy draws normal and exponential numbers from under a curve that 256 layers of equal area cover
(Marsaglia and Tsang, 2000). Of layer k, ``width`` times a random integer is a number in it, which
is certainly under the curve if the integer is less than ``inside``; ``height`` is the curve at the
layer's edge. NumPy's tables (BSD 3-clause licence, Copyright 2005-2026 NumPy Developers) were
computed in double precision: recomputed ones differ in the last digits, and so would draws.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import numpy as np

from adc.ir.types import DTYPES

# Of every table, the dtype and the little-endian bytes in base 85.
_DATA: dict[str, tuple[str, str]] = {
    "normal_width64": (
        "f64",
        "dD#_sJ4w$x#`gW=3yq6Bv|B7ZuTYXaVLL=PxqOv845u&X`~jFeywFT83?rI6_hC3MO#qxcbaHfBFRYzB!_`bJNHU"
        "*1t-FpVGEJa7LtO$p1@)jjcQ!$nrjnsN^%{DQq9>v}fY@U=F14aO^^sS=KRly6FR`M*p1q?yRh$2f?>VGAr~W-Qy"
        "RoD^bkiDQbtR=dmd*#KfR&{@>VDbJF#@JMJ$$2K(rczXa0LL8qSB^3ruatF+BT;=cPg_Gt(d1gL-j_jMfj&YcM3y"
        "O%vGp7ns$4hWU;6`n9okBE(@tV>K-hDM`NixM#VUe$+@XKET^R0%nqtNS<QECXJV>6FcuJQt+c8<oNN<qu?4F<DS"
        "ASOgjK6NI-gRGHl(XOGJ?M<*72)6^G;d$a6YU&VLLLV6N;=nizagZ$<(YoNVk9vpB}9|5Fg|zooB5)!?+^=&abUJ"
        "Q+DyGI`^$S{_WDW>piYK0B?FT>4UC3&Vu>9I?1j)CSve}=MAqsi1yf2_EE1quGfd2ZI!P)tS<U}Q`oOO>@-5)Rt>"
        "N`nvXg4KrXO6{G}G2>Q1mc5TJ5fR&TI83-oc2hL5m36JflBeXp=Qf6Pl}J<qT_YX}xg$nLN_?iH0XAP%uSz7H`6M"
        "=h~DL6MH1K1{JZ9w5ZO2y3xCG}?F?r-`vVh;8ms8>q27%PRQzX2!8RF4W+Yi{!C9pP)dQiUP7c>BhuzWgxOVAH(T"
        "=9X_%=`)jETv|F+~f72aiDtWRz8`l}fftIp7+Ag?ayR))9Q@G(`*wC^(j;YJ&+3m7C*GO&+!3wiHFuC;MjwiD`p<"
        "X6%L`1VZ)l$m3;$X8pYFGunYJIajWU{hv-I=pI13kFEJGQet;2l<&hSIY<gIaRlzV5R;be`aG<qEVsU38```zEwJ"
        "q%b__07JAqUB}9E_g=I-Hp6C~-+Ht>FONtvx|Xy&T|ol&hqAOh+!3>^NzSx91*SL_0P3_nVpU%6s|B?@T8j$uO(C"
        "^BPiAV><~+4L$g&$wcUZMNcwbcx0CcrH6on4PfseI3SsNrH{i?M*J#&50a>lhh(~K{B<KeYDI9{K~PyMw#!yltyx"
        "EQuPqOhXq9W=H)3nsS&flszPa+b+g;%c@$H!-n;LWZ_Hv9eGpqM^1tyF;_+0ll_7Qqw45V%WAkRQO>r#Pha1>u8J"
        "jCl9wg#uRB$jw-i2-0pDP_eHlnA9Lk3Wns5GN%Zgf)_k`-lfAmgO_;Yl2^5Pw%ComT`y$)(OwYGG=iYOS*6O!BAL"
        "@prX9l=Dc818>03x_N6`zUDqCL1gz4g%_PFc7-#eRBk19iAOE%!%X!;rW<L%;=+j;y#moD89>WyrWZCu&4dN#wXZ"
        "kF|3tIsmymM}sKbI2^e={0i?9MmV`VilPH~VpO?2?$vO+j&Qj=F)A*J%Z#}^znMRi8L7EEEZNnJdBwRr5p-`W?BT"
        "gQO49l!a{jqIk~aA{3>&&UTgajzyEnQ#h`S4(e^k0Wq^U}BT5-BOJu#qUOpdxd2=SjjR;#)^&h=W&c*wduHnWT2w"
        "B@=y8ll5a3j@16TbP>gd?33#01V)u3O>6$13k_`wOhM9Cy76~eR;b)Jon}CWS6@<ZY71=Yqh&PqQEX|lheCAgRX&"
        "_-0{0Spcd?GND#a{Eqd_f*Dky~91U(0j7_{e1&8biW^BAX7pCjrW{bQ$tD-i&kE*;pkk&iL;mN!_H{fV6Ug^9%Zj"
        "XyH1_`}9An!L2+bF#}N5(T1-blSXBk|{!5NW+UrTf?PbBVn?aBd)(397w34oUp@(#pL&H!f0@(d)fD9MVbq1`WPE"
        "_D1T&bS}O;h|$5B98kVICH|K$0CK)O3co5#A(Xy62ygemfwsOpI;RkJBiX(@sq6t^2>iZ0AydMNG9SM@ZB4fiq(Z"
        "+uXaUI}UuM5Nf|rQ|W{ST&zanuMyRN@Hh37BQVAH=m3-%bnS@^#^b)eHn)DFNrN6C)@s3E{Ss{*NmsWiYm$Mrr=+"
        "DE`VezUFiJ6pg!XeOs4&~Csy7cOIun1aAORHEnzmzKah#K3WN&8omWNYw7pJ-@&_Fg>a?>eIkHlVuUl)abxGwx6c"
        "&|NX!`L2w`hZWF;gHC?-#At}K;Z3)C_9Y4W5J1$^IWL3dD^X{EH`D?*EVG`1G--5wBtm{rz8k)g8jxT?At+By8l%"
        "{d1oXNpFIj-dU>*2vX0omfhpZdW(fy@M*yc5Da?$d92M=ioUB%G|IMMuIs;8=FYykWvTE?KDhvV6ikcn){XE||hR"
        "QVJ?lH?+b$m)n*x)X>5_^?0eV4er7`?ygqS><hy@qoinFdn&^`qY|zK#7V<EK&Uf%(rLpy3PDzqvx>t!`iQP@b*#"
        "fYrUVzWC(pw?b@X7W+w#La+U2>Nq!+|IlwMR7m_5Wi6*{Lx&Sb<qyhEIIVvWQ+Ct7QrbGO7i0*TEHCF8_AL9FRhp"
        "Af}7LVh|@5kSQ}8{|r<v2n#b*^P0Fz@^1J{?IxkirmFKOdf{MX%@yj>S_Rc&Qr!b!{wj8K$XTkGU5r1Yum;=G<sj"
        "~C@04}a|Q`km3hZJjLz2dE!4+6H1a7013Ab%6nv_`539&LmPBuq;4aBLt5-k)?#szMT6dIq+>gpUvHf^BADGKLGp"
        "z}Nv^&i_",
    ),
    "normal_inside64": (
        "u64",
        "YVRe0J@XC#0000000000sK)!4z6cBeLV>;dRHF?5>h8gQ_E8Q1e)rSqRk98MxypWlOYaT<szmw<M;Q+Q7|Z`*?Kc"
        "kqTqR+ZMo$j_mZKZwrC|>Mq?S{4dT<W_nnWn<vV0E!(^q2*@rDlo-X()qrjHK*+R#nMB$p2W3H93tshtl1boznyV"
        "51KJ_)A;fZ>SFd+*H$G@vIL354jj;`>+oH#&lDSpR^AEcm8H0?6(g94&|Zg?79yC?F$5*tGy2ZS8V@aFu)H0NTN3"
        "og2E2~(Ocqrro;~bG46VoqQ(yZq?RbDddLp|h2BeEGRhAC8Y2Sf%*zh|#5wp9P0bGgne2~EwayO!Fv%Ui2ha}y=E"
        "T-bM$r!dQ1s%ca?%d~9?9@ej?)hSc(jn2n$!;fQxB53nAHye?3s?hiPjGQGU&*uZr2Y0=m>jMNZ1bmj4Z8-7ugR0"
        "(ygZl-PsQSj9w6Mnc5EkATGdNP1_Fu(EM9m`P&ZweVV!Jo!k!qopKm~JKYZekS{cd(%laLWS=%<W8Mz{PEn0;?%o"
        "doF0`frbl(pEK<$}j^xqEv@+7?EZ{QCASfVAu=HL$iOt>gKS>X==nLoUY$KekEsvO(tG2#yZksI2DnBorrhC#KD`"
        "{EA(N{v-BTjLJ^Dge-#x8n~0f32SB5abU4G<VcSXXFn6TnS9my5tW4B$d*x3*`?0c)U*cS>+D^5)$OdrR5I*iG~w"
        "C@8u5wco5ldHs%iic-6*rd*%-Ssu3P$zUB`A^7Q3Z|K<+>0;d33KIabrIi5a(d*=@TqHu8Iw&xE3Lqd0r@aGQzjP"
        "O&CDCiFWIu|wjUg!@1WC(=Zljsisyw31J$LJ3L_D+2``RES-9h-;DDd`UY>WI?`S?Lb|qMDQYhUpIgW=L_Yv*`~2"
        ")wYx--{}tkeCDfj3F;33q-OD)GU^WiER`~=TIvq~8g$jBf$9$c@EqQkr|J&?AldVU%<2ySJmzJ1@ahi$6YMW`6YC"
        "EEN-F+^HR}%mv|=%?R_hM{`h?>2cIyuS6d>kbmg^4ye4WqqwCfK5&`I>T((4ZZJ}z#t@9Pf$=)E4}3+xX76<V=UC"
        "+rUZ)32QbLhKI!mhmb5TkH=2^zLjxb?grSv<y(vjqDEq5+9MarR)y?{wKunyzCDE75h|#)9eobv&e{a>Ff^xw~>F"
        "u{_GC`D1|k56YUQG14)FBC+!aaOfMu5JM9kuZdk4RP3;c=-NTqvVC@e8=ubf%a_tWQf~n+JgY6Fh$SkA=l<f}y1h"
        "<7Nr0ov?v}$z7v+WN6Qf5Kl!tD<LQf{Pi(d`ca(~3NS-|Y_ofSHgF?d=Z$6x0tM`t1(@#7h#c2JR0423py`67CNG"
        ";0BOa9_|kSBxOr;DeeydyyOZMH0}=oJe#;ZKJE_y^nxkwNA3>*hOiwcQSJ`_L4QE$S?&)2F0?2$V(t$B@t0T&YVH"
        "pJdIvsiaqbTQf_pMpc<v7Xx(0jCe(nzdvPwwOgzgUjLu0mJitY~pQOL}CkM0iu+9iG<l<p4z>M5vEnC=e%Tu2iRo"
        "bC?*^mB4mpY9I;uFPU5qV5j>tU_ypr0x#@aV`94rtS{_`qpmOr|u5`3i<@jsO}E{J2U7@sqPN|5M(J(sqPN|UI)P"
        "0sO}E{RCbByr|u5`Bppb2rtS{_gPx*_r0x#@+T<b~qV5j>Bp@{|pY9I;F0UrMo9+()<nkoNm+lV$Itn~TlkN`y7I"
        "jrXj_wZtdYm?{i0%&n{XKt<g6<Chh`6WTd+rYa|2O}ebnXuTUcITqZ0-*LegK|QWbO|Dh$y2)Tka14wpUJ>QSJ`_"
        "&jtWWNA3>*P%Pn7Jnjzw*ec+%Fzyck1%j<&B<>FYT0FR37w!)LM-(ce3GNR7%t_-X`|S?^Y$0~)>+KH!egq=q+wB"
        "hk(>cx#%k2*U^ehBqx$O@C$vElUrtJ>^jp;XXlkE=xHmEopf9($dE5NzZY3&aH0Imj&Q|%7`BBb6yJnatv*e`15B"
        "kd0WMCLDZ3hfU7H2w$L@9Yl%xVH`v)a(xcv~HCMx9kr9!7viGnCuS#c&QBvdF&4W{xJ{rSL_b}V#$VPHS7-nHM6u"
        "#5$q2D&~J{E>+25ylD42J#On_L+zjsZn(Ge$LWRlUZ|e^Lo*%8#LhBCzODzkq6YCEE=>i&A;_43oS0b6NuIdi}Cg"
        "YBcc<K)T<#YYdKk5$v_Sub01nLg}J612&#pw?Kq(`Ycgy|0eC`TPfKj{wu*2Q+c_UI1)=IF#-s^|{@>alv@S?CV{"
        "K&g=S1n3U{z%znKtLF~@rD`8_Oy>^(0-`Dq=;jXq*sHdnedZ4UelR$n4CW62Liadxl;sZqfO3~`6y*;9SoAj3i{u"
        "XgHy-`J`Qr}&oU!gTUE>b`{^Tzbwc-x|S5=t<0OAh-6oYtzJmC)juxIYXXy6Y3s&Ol@g5M7Ss{Ve(hu#kW{X519b"
        "=?mD6Td0tM%)hof&wo1_}UKub-J?Qh1m}P1kXtC=GPAZ3uV2n6V?v^67b?l0n`rwtjDycq0tWjo*#Au;?55MvJqa"
        "`sLKxkA}!5s(#H<~?IIp8E5i=}I=H}rWxWpoG*ke@2DT3XbSNrVK&%e{m_-2|m!1y*{2io7`iTz!EHLo*#byrxN*"
        "pswS{e@k",
    ),
    "normal_height64": (
        "f64",
        "00000008hmhwypHYDDip6{&1nRJZOwckn0R5kKxfmEHuWZ`18R^1N3Dl5p)m+!>*GNfhlr>n*3KGrjCTe|V|RUTW"
        "+=>bmaP92@LEg52Rw>(1*xQuU8IWrgcM5ZyF_IzH<^qUdZtD*5U^1SNX${<Z2q;mJ_di*)Kg53lw8sx<09*dJx?J"
        "ND^6fd(XvBDv{5!Fpj=Mt$i&M|vB=kwWP|PjNB5@d)WZs0!v!RnX`^0^hnwt(fRPth_h;>tX0WZqHT^1uW=4%i<t"
        "Q?e^zCSZJJgn!@Kl)v%yE1CQrFR@iU{A6(}@5^X>9<tgVs?t1FFQ26FQiCSZxSjXl+DmzhL_m<{ABjb`PCuinA7z"
        "|aI;y30$WhQ`_Bnjp}YX3@a=-TB!iCoC6DXrx{kBv+w<bUNqMxKrE6I10s)of*2wI=01XSN{d#QNkvz)nd|KhNYp"
        "cv9SQA*AF#5>Ve?XnEv6c{WK(5l`el<6kw3871UDf?HUbe*5D;qcN`#KGNeq4$WewRjK1Y)d1Qn!+_&I=}`5Hgjn"
        "N0H9By~moVc$?>J=r`UvAc?mOyLtl{E6N|o0Xs=DGo70r{5@{{5}?F0oWgl*zKgxio>T}R?S^7k*Pd?DgLAeNG;;"
        "QQe}X_-|1ht}ag5z#+aak1e)P&}J(n~dQ<+Bt?21!&<voT*+AtwZ5II3F=ck{{te6In8%v-{vbph7_q5ZK^9uGw&"
        "nrnKNcfnAv$c9GyeHazgmeQw}CE<dKPyi4FeDuRpQF)83b#LBpZ+y>x3p}l*Icgf#B$^faSorT{&^Lj7KDMH^rm5"
        "+XL8vouuR3E({ZoJ+<#luc&BYNIHg_~dMI5^%v2|9L1t@hnNu~rK*f3@8|Gu|d-t#sW#fDi(qHZ<KoZCkFi8T8yg"
        "NT|SbRkYkc$JYS6=ycpaxGWuS(ly*a7iwXA5%=3ak!^9-q`2EZ8xse3i+bBX$}zKI#5~(SQiY+OPXF3Jo?2fzDZ<"
        ")6fY_u;Q-#_;O~4@P%ShTkK7>X&k__5E-;*9*rO??w#=sba1eMu8lb_(*u36bX7t1r7qaN8m74f<J;p5mph>_kuX"
        "{p#hwpy&HIB(cL*$t|HPc_&-5!tvAt^3zMuoU#KP{P+g>r#@hIf>Ul?XkycXHeHaOkt@z*%#M8s!S4wj^EZlA>N3"
        "shNsp);>#r(!Ee?-73F(3Jvi1s$kKpx`T*8HM8bAM_{r5jzV6l;Hj~vq00BL4vs~3b?K@M#Zzk10l5M|^YVg!QqM"
        "Q&{qq@{T)M~At8HLn8{v^Zi%um!m8G1F*yc*O$+tQBE=;hNtu0!#BP_ffLc@qd|^L*1kp3(Uw(MZ!jFZNnZ=@ipH"
        "W(Og6JK@ql-9MH-$F0&o9<fb9jC#^PiQX3<ibv8vp3L`oz!cIy7J(S{F5=NYQ1HSz)vwV%=u}kgvVGA%XYMq+$4k"
        "*aBP7pH6B^M!#0iI4mFUnv+Cs93O}EfLHban)JBH9d+37+eUscdQesst7w<OR%#gpHOi|EfkH8Qx25Qxt|(wOON{"
        "wL2rM4ZW_RLIUh-8?9=5^2sqgmFa{I10``3XsQD#H-CePf@b?woT1H%x_+b5Ae)CQ{Qo!&63PNN1fQW@HNaop%}h"
        ";c-hN8sxgOpWPQs&I?>Ehv?0qs2N+kPXU57uekK_Uerw7<J$@}R_YlfITK>|%(zeMzCwyvO5M9YXY5H`(uLH?HTY"
        "-|1u&T&EIGTZq5>m)Nb#WhJ)%nLiBco{3_@T!?rnP#Ud`ibZ7DtwTVDrX5T=F44q@2b-obj!qM@Gg!`Gfd&O7O)$"
        "Y#sB6teV9?HE77GZAHaD!5`zTjqt=jEzb3944lM2)pY~H=|{vrt}$tgCG^8T?$_w5zo5fEh^w>(xJ|=9Wh#7x4*S"
        "AC8V7n4!>GbPw_byy)mFkkG&~q3Mg_t@LVb0T6tuxVV=buVKx4r_xo)Bz%M!sqx(QM}v%<hXg}=B<`EtNNDt!i2o"
        "g=_MEFx>mKB>Py91c<`{|moAOQo9fdvCr!kLY$`wbQ*n<&nL)t2n(s3UoV3U!J@_6%Y$(&;-0cGve}i|7*KHGxo~"
        "q?9;kGhGOb7nLN5b8C#v)1g5z^tDvNHFc7&vQYgQj9DBGw*6%(6%I3E}b`h#tIa9YkOiF2UYrwWY7)^yFVJ@~mq-"
        "Jzi8=bX3t}FTmn+&x-6CxWx;e50|hMFcL@9ncca6Z}O#b2{O5iy(3X40}hkqzBM(?zmBeTkR847#yDofq=Z6fdzq"
        "C6*N|?WC|jm*g;>mm9D@HEwJxEGDl%fl;zY)fTQlV)3p1E(xtaEGj4uKK-jda9=o(2lJ{wV^t~nkm{*FtF>q<;Nz"
        "%29w)DN``)KNWYCzi>D#71)UEP7vf8CTT_+I^UE8ET%kG%Y^4+69m-Id8eBz=%ylNkx1?izb5rCF1nDL-L#HAS5f"
        "%u<4b&P`B8WNsA8VSvV88Dnb`0FB0pHiAX3c&!j(Rr9Zg1-y&+NG91WU%}4>eiG$6JD#0I1Q6O5-?yi14)rTN!@Z"
        "!Dix1EtdCD8jiie|c%+RD1VM;D;LjRDmg|H+k}s7hlBIz^H)!nmVBvf}UAPR{sGfE|{jsnEABu24XRyITpI>D^5B"
        "IsY1*TL#",
    ),
    "normal_width32": (
        "f32",
        "+)4U0UufJidW8}*%H=CF=MO+LVHi;}X#!v~dtq%eL6Uhhk!gZ6DyWAuHI<Ar6g`nMa;cRw{^6N3_UxTAe9xgX+Kr"
        "_%t1GE91+1(yjuEgklU}nk6_vI#*S5JcX~n!VEyBMuW3Iw8C5y!~by>(WJQ~Y0OwP?SXListI}_70Yo*mQi!InQB"
        "&^yqv?1Lyv5wy}i1XnyolxX6P^RWH`1I&A={)N*aDMGG)w%C8UhnZUN+0wy)=Bm=Ja70jvyb{SZL9n<oWlMyw`u@"
        "12yy{5Rd)h3vw8zGHGBj#?0W??>v;w=LUso<0&xg5IBE$r^<fG$Mpz3pIZX^S+dvI8I5Q43T_g`QRTL03ECUfV?C"
        "=pZpxqKQQ^^xF4zv_B+np6O!-f_#&u$kq2v!(0cRU$1BqAC#76%(NR_hxy>&_fB-mx7tHIyDS_jMmMELR{j**76H"
        "2N)tWy!RqB{njHi(zPTsK$ImkO>!nQ0Z=D2Uo9v!a0)3jH|Hrdy2C0o0H7;04ty*$=~pc@moqLj91kxve(EnY!^J"
        "Q(@1QX>2z)X$6IU}d6f!h45e+po59l>C6T>z%BAz!iKzTScb5uDrzb`s8DhoR_xaK=FZo)h?Ql33DXnH<0v{pYfJ"
        "u^Tw2M|Ft7VSYaamqq88>mAx8-_$Qb!0^}Eki~$OCm=!(E&&_$KgmcF~UhS6r)Nsc7#hbTxLu(%}7l&%qvbbVGmC"
        "<k@HV9V%ShL*}YLT{i9Me)QVFyV{%k9vRYL%#zR&#r!7}BS{PU~=mS|aRq$Cfs@+;N?#o*=D7#!VU#nd-o19)W<&"
        "Ix8LxNy5zjk3XVQgYFFk@phH(O*hepF>N4o_w@@=9kkGDv7N*+ywJ@kVMig-B~Opi68tO;Bw#m{x8yjb3jwIB0M*"
        "rgL#L<$!WD0g!Vv3ZZl~4zzVN9LaVxL*REbl=*lxAQgHv`7(PnFjIUq*>!z12b+F0&cc5*qIQ5ZKn;O3Or?P|(ms"
        "MT;MsySfp&v5#1w=yxU_^cY*vLd@A-u^QlEx2rbdS}|L=!1aGQuU4M~YK>-dQ@BCCot%3q5#{1%Kf)6k4GY>kaH<"
        "xGw=U=NQp{?v~&<(-f;JZh0NEjp4k<_(iHnB|i+cEOZ1yP=gdqK1|<Zg7`0XJ42!+f$h|AWoVzluny8omHGPtYe)"
        "tK6#!r-Ikv;CB2|D!R(<lawelR6l<h3ox7zpC>f_T`-G@8ivX%Ljg6}`1TL*KQRJ>PPP4Eybe^&_2CB3)T-&xZNI"
        "AJQtIWGJaG}057|6jieptmc1$W6ba9_?e<bKpN`oP>Yq}}N>",
    ),
    "normal_inside32": (
        "u32",
        "?3s4}00000^+jL+s2Xhmw2yKCuab2DTzYo^ILdecYrlB_HF|mgFAaMD)Ps8fm*sl^h&OxyGktsjCb@h7NbP(82pf"
        "F>e?xr$i)VcR+lPGs{G@#VVZVI<XV-lIUG04Ug8_a35fpv^G$noj6*YbU)kA&&lTm&EXI_2)X=;7|s&#$<K7f7zG"
        "Kzixm6Lt|a-4nu)ues^#;kq-PPBdib-R85L&AOlyvTk4=+1rs%+!7WYubJQ%in$g@8o^}-06M*l<s~28}ohuboYJ"
        "$p!<FRqyK&Ye*=F2HV1zI$_jq~JPv;Vj}d<W#1wx3+!ucU+8TcVy&Zo5hai6dIwOAo*Cl@dT_}G5&?<ibE-ilmdM"
        "|$fvoU`F+%taw^EH0}`!|08^ErP2+&g~&w>^IVgg<`(ML~Z6_(FdGpG1EEI!1p0%13_yPDy_N$Vz_zI81*4olSoL"
        "`A&ZTOi+ISl~I2H)lz=|4OD*sJym}IWLAFwgjat6oLGMVtXY2mwOW4wxLbb!vs`}ws9k>mmR^4VeqVn8UtoU#J7I"
        "qS5MqA-;9`FOs$+iuZ)AS}E@giJ=w*KZoMwLjOlN-p_Gf<poM?XlJZXOb*=c_OaB6=518aW(k!ybd8*G07plp8tA"
        "#HyEo^5{s7jAz5jBbAb{BC~$Xm5W2(QkhMHE@3bmT-Rn^KgFvOmTkzp>clz@^OCvKXQKniE@7c&vJhN5_5k5P;-9"
        "(i*tVf!*hQC_H%y#Cv<-RQ*?g-d~|;Rp>%%$!*qWD;B<cg`*eQ*5p{n6Bz1oPGj)FeKXrcqMs<GxN_Bq#OLcz$M|"
        "FPyKXrcqG<AOfBz1oP5p{n6`E-8(-gJKezI1;8nsk2va&&(HMRb1v6m)+8-*bNerE`A(W^;c4BXfTM+H!vYjdFhg"
        "I&yyi<8glghH-xYBXNHKyKsL1O>lnz*>8UUUvGZ^-)?^ZSZ;p+%WZ!EH*J3aoNRvp`D=dwPiubwoN9jn;%R>XA8C"
        "I8RA_$ye`kLHp=N&oxMhC;#$<m0$YXy1z+!&@t6_ftieP^LU0;6yAzps~*j#@Ae_MY57g~P+o>+eX6IXu#bya@=#"
        "8ZC&{!xDbB2a$-FHU~|B20e(`bmEPwnu*eQ$>FO&q99yC_sMzT0MUNWIBHUK{tN@?K6J>WiWpLq%3~`q$qy?UnGA"
        "3&L4jO>KcClsTF?!01$rw<OzQOMgxBU7W{qyKJ<P7sOx?JH{yN($k%=VFU)=bH@|)Wov?lY3ZQ-f4UK*P5O;n6M_"
        "qmZlRka`Ss8u+EbDy$Hn4pF17dvux%7Mh(ocK<FgAMt($aVU",
    ),
    "normal_height32": (
        "f32",
        "004kLRwH^pqq=oJkN9yveVcASkc4YLOrmH%o#|yi_EKX%=h$FBT6bPQDl1$+)bUwAQps08_^(wzU!+q%Sfx=v-?2"
        "|W6v<6LGwMq}juc8ijz>s8s)9y8YQ;o9U=Kq-C}2T9YPUZ>)D%8H8hAWE_~1G}Fi$x@hQc>L#X2@WySFqyIXN>w6"
        "~8e*B}p(pL)R`pO=&GZA^$5spqMH@t2HS<C)OuF`gtZl3?U^yL(3ySig+SF%qSs0_1hmm@sS=stx6p~83r6bB*Yp"
        "&zJwV+*hd&YV+|KSQPmYcl%EtoA#4*r>pBuY<qHu%1>X-pK(r1&i;E3E++++tDL@N9X&nkblKcoio!tjNfxreoG^"
        "GVUv5N#h?sEe_<y`_lk4XVP<Te05yi5K*?JWF0P7(S()cE&4apUzq8`1MV$HDPFYPIh^`m60eYo+TxwV~-g&Y<T$"
        "tfJ*UMyKOGldj=DjJV%EC&k@9T-4h>Bj(vYb^6ynN)gsRnkv*jUq;eCl4Q_6D}~NJB&f_jcg@N^9regQ5Ff`rN=w"
        "B)#d*U%e5%1dY2Cj*g%Z9#%}KmIJA=AD%D%Whbo{nHH9WOG34XIa>cO!-)CaIW!cVR~v6-wsoaL%Melw{)RD-8J8"
        "`Y&g%_yWkXMUnS=hdJ-M=zf~go>R$o9CN8iAI_}N~f4U+zFRHI&PIdV$_p9Q9P191g4NacoC02s(y_=m+gx_K3<A"
        "Gn$U<ot3-!BY`TR$+%bec`Kp3Gz$Jk`Ttt69gg|^g^FMh$r9yT-mPm6x!BKENBVKJjxNT}ae1K;@ZI)y{hOc2h#L"
        "HejB<ou~qYYU;Ju_B5@LN+px`$9cmbOhkgXl^=ejP|Yg;hm9l#oI`tIj_@#}7R|<x@I71e-TLBIPtbJu)&rRDv%)"
        "WYsJ_Z7V81ZG<O2W8fq{PCp_(ETJDh{RJI9z-<~nbl4X@8AcU8t+o<AF)9!~rJxNy2O0}LS(XSsniU2<%9jH^>l^"
        "_-_DTIc`Cs@w;Cu5utDWvWUd8D>`tsyGgC^iT{9oHWXP?$R%H+{KCos)Dgn`IC<=DeLP&U6k%bB`8Tm!Z}33IVM+"
        "vu!4*kq_Z3g@Fed2gRRFaDZ6Hj|b;nl6$(X3&j2r+A4yX(xp}z1)C3VKI3<s<v=Fcu8nI@abPYJ(yQLh*VEK0Ut*"
        "_-1j~`PTw{?lGQFf=-MVdmhT=t=Mxt_El3YN!Hfqz55)gG*O2f$%z)uM`jpZ<j?Tk8*e<m^ShuD;#A%p38c2#fQm"
        "J@6X(U}dAP7P{vRo%Tkt_{72n**sNA<Kj_)vs9`ur+8E-<A!",
    ),
    "exponential_width64": (
        "f64",
        "!Ck+U>}1hA89`l(omgNzD@|KTves%mx{X_@HIs2Xb1F*Z<|1`GfO^9FkWhF$%(r>((KvfNn7wVc*zA2gJY2>}@H>"
        "D!aQ4<D+i-zAGbY-Q0+@n4%5FXWh_iz{A^r=-6~%-+!%703_|1hpy(_2iK+lFe8PFHn&B=#6Z(!3@S-yxo(l;Vif"
        "USu<15#bS$d`&d#G~EarG1M$i9d|jdtZz^Hhl3-qCJf~T66JuW*Ck<s!w0f4DgOT2{LG1(!`HESaoXcc1w^v{D7N"
        "BNVAYUuk}fX^BIvmpx;aDjDL|l=Se>4CghPkF8?@X(npd!3uq(Zo~n{OOWG!-nhcXX0)lPg(ruGGpkg7>Q_hn-NM"
        "~@$C@z#d66ZBvT#b}GlMBsj`0JEBO>cN921=DY{l2(8j;ED8&o14^m;{zQ;AjkOEn${CM5+2>Q@xfvyO4Q#5gC^}"
        "b9o0NZgiJCa)Ew)Z_k%JnbrPN8!DJQ?BOdfcZ8TcD#g%Hh~AhyM56t@Q#hGCI1{Zx-jSI+zXShuEbEy(N{AG`LPV"
        "N8VbYdUC7qf)$t3bb*!7w`o0m*^Urw7miH|?CzNVWznf_Um`Tm<cpVDxe6IYx(+gida5U-p(`{wYD@&=tejceHPy"
        "<VL>SCB$#b+(;6{xN*_8xEd4L=ew|v}K+=VjJS+LA{<lpOgaP#uT4Cwf<KtMr@xvp{WFA!o#0D**uyNpADcqVzCY"
        "OT{)mU_;zv}A7!9CasW%a<B*^{Hvw@2t-PQ-W-odmeCVJ&6|5IIQWT*)zI||SFhHR^`+s-g7i^(CmLol>37DZggH"
        "k=+2E?H};>4+t5b&Wq1rD*(Cmf<YDWk%(O-Q0VpBT_PgLI-is?CdZ$)KV<T|1>@A<d#ZAr}J?jQOHG5qA503MQjG"
        "p&N>-ol>Jb@EV1hMt`F`{O`|92CSnzZ8MF)-Pof%#0gLI%>|@9&}>HL*D|C$r)+VQ{9mLz#DmEEJdLD0q!?=*n!2"
        "Ps>P5@+6zHTp`vBR2t`(&`__Zv=XG5htCvP#lL2;!#`J7H`J)fmKHIot4Tg|0BCeK#-o%^LcE*f*=1S+OHjGJ7Rk"
        "yxfY?(5SVMTe$5-#m?eAhxDF2&P%fB;}?&`>9Y7QxvB>90dAdtV5?fFwu9>F>|Lp3M8?1<f5lM_ZNL@#nPudcXH0"
        "m)dHwID(2t17Bi?k=Llh0iDRfdR1c)jE|jP|lwizA2*s#86BYjR7WSw-;d71zTqmhKih?z=*jTAN^t(Vgj*6)~T?"
        "5D3eY~kWQR&^>sP3seEm_ct5Fx5Okj7Ruwo|G+5A)D6n}(`9dS!v%z`3eC|E$WLDDA2|wTo`n(;%xnLM6}m!&Iw0"
        "wofv9`iQGM5GDuPc)hDUh5ap^K=P|RE#N{<QzxuEq_OIPvRte@`y(URUy`gmY^9a+T*$0EfN|}EtNyG!t@1EIO*O"
        "4N{-Yl4Lu{=)3Z;!xk)y3Ve>KudH`}c|n@}dSHxsTrQlu7qluNEWe<SpoPlT>Kcy>w^YrU>KXpvj|==QEWf4rb>%"
        "P_Az&|XoP6l<?M<>BwM#-*=3*a_VV<lwJ7)Dii5Hx95o8#xj0G%T<@qa>1^Yf7*@+a?ju+-R^o53M@SiHEQ}8OSs"
        "DbEdF7Z<GM3oW-y_x6kiT1?8|j&hHCmuLQ9?N)?i7oFuV4D>`rN%|x+0!34yGMP;!(p001*1ctFZAb6su4X3d@S}"
        "J&^VaTyOa5I~#0_w3mqV({S@(Z#&P~}fjGcK|`x;sGT#!#|6rrO70uXD0ID^o)0?v}DVQQJkdhq|&na4nV&eBQD="
        "WmzU!&H}SM(5EU3fhV&(Wyw3UmQ1reR;Y~l5puIULs2xG^_R0egNu!NM82~;(B7?#0p+tit?u>dFATIi_(HwO(lf"
        "L?EXf;%?OU`wGL+MpgM_p^Orc$;n60!tC$SuRFxRv^2$i`APXV<&vZ}0c_$#$MTBrC1F;}%bVMH5D{erbT2jMvSV"
        "Xw73p1p_zWZbnpc^C+n2nx15lrDQDRXDahGW5e>PiM9~?nswP{g$>o9($TEWyiKW2PO2ejrg`a7}8wMeJZy+!*RX"
        "hJYBau`EhHt(vY`2({>bnN5!{15)^Lfqx!cz!@j^Q@i4eNLUU*aIcT^%t6OQ#g`l`Rl{Pzq;@P-7M0NAhS`@iF4l"
        "4XK`%k$%*cy%T(2Th}>e(bZ>dLu1c=1U-Rtma2J51<9B}=+I>V~btXpOo&#6{SGGts&{3bq5lnHIY|59*Onv0b}7"
        "UfOojk*2#mckfHyRPnn!r{Kat7CyW@^vK9U^o+bbf2s2958k{y#W*KxjWNAE>^tmll!v`MpYcwwP~g2hU<ny+@;k"
        "mf!GrTEubRF*O6pK&!u-BGr}vSUZeqVY<;M0y{>#5SF6?5n;vB#{?~e705mvxFPNmDu!I8i`ph#VKG0?y~rjkPgs"
        "1d<DDnxZ>cvitY*21&A1E0Y>eEP|tyz9X{pOIO%D?P$IrK(A;^^?Lp@DW6c<M6^fUiZu=?o`7(VYtZ0PQk-GViV+"
        "Mmp8;b(NRau*SW+z_H)lX*h<Ab(i3yxdhW$Ma=%M$XR5|LFUIQDP>07n8SV1spOeTug?mU1-08_Y{Bhb*p2N#LgS"
        "&ny*~!j4",
    ),
    "exponential_inside64": (
        "u64",
        "#+M`~6jB@j0000000000eleWaTYVD%5IjGQ^==pduCNX=x0@OOd_)=dC(#=K8fAzN9hDpaayeWr{u><tvKVXCTYe"
        "n?a4Z+yG|3$R$epa;2?QPhHh9!=dovyYqPKh(i&`E4Yy@u!LVF$nKCTF_4VNAOp72hw^{yTOR%NsYy~7>=&Y6es_"
        "SGH$h*oZ{6y_cP&>S|(ZuA}iq}1JZO93AMww9+8;|w1FdiU{ZV;3I)a3w_y@*p1obf{4ot|=b?GF7>cu`wS22EkW"
        "R5;-3LOlfZG;y)h%`iR#uGe#c(4musb5KJEcA~Re}hfyB@!0f{bp;jLNmYE6JW?LTsjL;B*;9nmAa#uv%6l5O&c$"
        "S6s31}Yx<^n4!#cLk`^yD%<OK%?lI`NQkpmHAo)(K6Q$aNn8z+40y$9NwA^glropL-twik}BYQ+^)+I1%DI=71jn"
        "Vv(&qT7w?|61i4jv4tN1VnVWs?S~%#`gD_Z5Q-lFtT{cp8;l<SO3+2j5RM-J7Cr$2@sA$>;8=r}y^$XP*sn*dcat"
        "9g+GLAQAeA2gk~m{{xRxIPl8BZJL6{!^fVxKEx|tsU0Doz`CYv7sdT|?8g`6J%0@%-4*PR~#&Y@vv9iJZnz%~gKS"
        "fC#OI5RryhoK(;{KRW-t)d?Qf(FhS$)g_tqH6A6+oT@=d<jje<fR_~f@kDj<)$A1#2%&G-KQS_bg1Th&Zr*%?qAN"
        "6x2YchSh%flnW`TEGJ;rMbgLf#gave?NUR?K=%2rW7Ofuuz=Bsh-mM=1Y#s6lpspVPey|uMT(2Jh5_((060jct^x"
        "uIN#IPR#`ti0<aIqf%I+n7Y7qTA!N~qr}y0RYt7*2m7ShF7h48F;x@v|QQ)~pQShO{35{FBG?7quS%s{O?PrL`Xb"
        "SpGLCF18;43IWN8v$h`qm<P2#HMbuCsD0dMv$r1r2)foDF1Q~6_D2JIrMMpebPt-98Mz+-1ai8Cin$*ECU1FR__-"
        "edhT`r$W4a#z7VJSU%eo%`M3J;eFuNZB;-s#elDi)Oo&v}`^1B}Zlqu3VPrM%h)Ii~*sk|Qmo{v<D0lgmpoO0g#R"
        "=pnpYSxPes=XfoKtId3`n?|j-ehweNxmNdUTMidmA)SUD6xhx-@YFJbYb51Cchs5;);TvY`-4>#004^u)iMwu>B9"
        "Z@xLDch(!WHF~A=HvQ%5oZonS^CKQWps=yxrifNf6<iH;QWQr;I8^Ip{LK%JaQNbSoN)LA*hQS{Iv~-?*xWOL)Lh"
        "2wE>A@cW-UZd}7s4L^{)0RXMZzBd!cT^FaKaw|4r7onn!+CdMu6!&!onW_w8qk+=)xZW>>@#B4Z|M*4xHYHFvA}J"
        "#(oP9Qo|nr_-5bwal;<~hA1jgki#DU`j>PQt-~JxNHYOM$ip81K&#B;;lm#Qs7;Rd`NJOoU{JVy5X2t<X#ID1CBz"
        ">9#=o`bIK&?SDiIaWO2i)k=tuM`Tf`p#1VwEBX~Z7@vH?&@cf=n6xce&!gTx;I_J2h_jl>@S8q%5PmBb$aurS>No"
        "x~piGPHS-qQoBn{0EMXro<lrjQi{OsKg%tp6V9Psl*=uH2Ogcsl*=upeRnQro<lrbS}uSqQoBn;w|P8ox~pi^eu("
        "VmBb$az+NWYjKm)RdL!&Rg2W#H=H8a(b;KV4f_{P4XT%=>Ho%<)Si~OyATDriM#LWgn9B<XGsGVN4sH$09mF31_P"
        "ds`2E-o#V#`Rf?ZY1cJXt=((!(DBw2=kgwZk6(OktVzmct(al0{kocEcY4aFYh}Qo|nr7$~yAEyEuGh<LqU2E!i!"
        "V)Dzs+`=CKo}anXu)-ez@cfUAg2EpFWbt|0QNkYpp3}Ch9>O00R%eXy=)oTVJi9lRu)!Yy5Y60%b-^D1w$^m6H^C"
        "nO6ePR$_P`$iq)iw|v%nt!@UM%BY``A?Wb=}sBETO2xN;A1)xRGAjz}rpgufpE3dS$RFuxxF#te4{*}fkD+I=#Be"
        "ZC(66sAiF9=;y{2t+k{y1gF&CiuChQoSDl8X(4F=DZ&O<V`Gnb-W({s<&gm|GOUmqUJyHgu5RAjM1Rk1iK#qtZ*7"
        "Nf4Uz47`BqX^SK`Y{HxS1V!0mx7D^X0%D5i@R9kj-E4Uv3T!~wpg|{C7lvUM0*tQ=4LTTCeBDNm@;5TnfWwjpw(r"
        "LfHp0pnTM&|>_&a)o?KAcm}^s*lSQYb_+5V9Wt1eRJpAh90+!r?+NB(NU<rg_9M8?PS#1mR~_1g;+daxK4|-mD)0"
        "3I;&tsH-0UDF2!BVX7YhqGoSp2&o?cJdIGZnx`KC6!Os~7p5No0P2g>d!!!#l)%N4#-bkp6!U%b^q?OA3chPI1fL"
        "%Oy!m-6@thw3#H$rVxSAgTxG#8HRhS<Dct6mq!<8QZ^6}28{gNL59ORnX{Er_1_=R(xxr`qG29`(cDv2Kej@tzJM"
        "TH*#ngce&{eT|;Ch0kNLVO<p%qm!;0Cyh%93&bKAaNf6DmAw>f@&WCX5y#-0An8j#N$tpW?CNrauLo>a!?-t+HYK"
        "D$3!0hqFIWg<u)Gx3N%nO6eb@46a;$&J`o=P=F3<5uJ#@P9u<h8jME+fuq_fErlKAId?t&>VObskunVj!_T3!-!0"
        "6=JP1_s*",
    ),
    "exponential_height64": (
        "f64",
        "00000008hmHxY>CMFs9Z@&AEPrqJv^CwuFA0OjjHDu3n<4<YM6=lWu$x_0V6n{8DUm)_|=IjU8}F;wY4FVfR?qtx"
        "g>xWxu|=w0YPCNU%}itgt>e$)w@ZiVMRV@s)9yCLU4#u$W2!@}l223${V`e)`pX0NBg?GWZab*xNjJ-y{WbBEf3m"
        "~7=gnu&N7x*p{}ulP~HX4B+9Y2c3gYKr7PCE=*AnM341fQzv!%l_j(6w%>C+`HpH+1&`It$O1>7-J4aBRk_iUfM<"
        "DBmLq(Bu^i<n84ycy)qFIZH3}Lqfm?@j!WV{$UcF(>Js8ViF=0`bKBuRB|9F+7^UGq?r+X*&TrvAoE9^@hdbdvjl"
        "&#DISAoDD;_I>*wx@aD$rDjTcqGWeLL<kxpUw@NM+LN=tJN?B=cag;uPRNc10onJ<Z=g`o+JFEpp#KO+xF@h8W*J"
        "ke!xGJ;2^SQPX`kMQPqY{5RoslM~)Q3?Zk89lzZ_dhNM=*=yZD3mSguy&2s<lHfqx!N}Y{VEcpF+<4qSgQX781}f"
        "Y?weGGGINaMmhzprfX^-1KZ-7*klSA7-U+*Y1u=v_P<@Wv7xUSkiKmns_r)And^dWU1b{*P3k~dmuAJ*AFsCx<Wo"
        "sZc+5P_PX>`B=_1YJ~&1_jwaIbF8|=fK!Mj6b}DiGA2VIAKJ!={ndyS<bd;1NqlK9)QN3(zn+?<8oeeQ+L-t>W#2"
        "4f;ZPcot|VqTlm&Loay8x+qu?1pAE*3{(IIx<R?f%!amkNc3AHpBLdbxZ0<289>&!_@2NU$u!_|`=cBzL*H6_y^@"
        "-k%j}_HF9r-2>*W1)T)7py_tD@9D@4kR532M|o;z1be?lIIqPN6UYTKdyJg|e$KNW;@V?|rdHw~W(2-O&6frB>5F"
        "H6$^{4<XY(a6&mC_3P3<Vj`|aQ@7GTDRxCyD1*{J{dPxva!=Af|9%VcFC5Z8+X;L3Ug^<4TD+R!{kG9Rf*BbM3x&"
        "}??~&r(gj3N!x}UntX(G`-Y^K>#xbe_GGgFWFZo$w$6F%uqjFHek(vV&74r0(hEPQ!@^)k>uYDbf+J_OJ|RFnTq("
        "yPxuem<65=TFZ+o8agVy7bOJ@<3StNSe++r-LunjzG>oIZq-;jOWcixbEW`K99{m{V}v4qBqSypV0O=w&2V^0vOI"
        "uc#6zF?ytFB<}}PdHAFdQ{@=?#rQ~vazKhF0KJVPPBsj}I3tQ_#FXhTVNj$(y+>**ayj<T7DnZIW62;`v7VybGBN"
        "jg7pr6S<p_1mF#!tyVdAlWKh5*Sw)nZVe-m%C(`5KJG&11+v=I4}9QWnTRt{a8OYRShx{zjj<6@AA)IVc*rQ8C9q"
        ">V)oN9p=VADB7l8cbmpPtkE!4UQxzBF>0{-&<Dmpw!%~i&c4Mz^>{8qRCdKbNsI?=VlKr$`nEh+_vXYumN1yu5un"
        "6B#>_3ruvx@Enrb);(-Xu$1*!Ojch18<$<>r5or%LguMGO%LPf(rZhgM0X92@MG|vQu3ckWWK$&22Dtp2|c<8%(#"
        "yG-1Wy(FT-S)vhX4WwvZ?(Zcc&_l~d33=)FLB8r{WHNoAQ$ZK_w&F%FSb;BX|%vUzNNSBP<6mR1b=RNtv0|vjq1y"
        "${P4d&6a*P&g>}C_Ji~*o^ZLF&%(;#PMuEOR`?_KEdI-Khn3Js*k&wMV*G-WIhZ(&;SN(u%Tcf-`uMjTu3@*Gsk0"
        "x<fnz_3_NM$ut0!F((WmILcL({rHw>a57U17REDD+0qP4KxtaBDM16o9!uxpd`-uMoLEJ5ySN9-_EEy2LvyU^KWt"
        "^QPB;bH}$o9y}R_S6jC~wibj)3-Go-Ahs~vjfJ*9_uk4}-W#?*KD&|a`?9q^HqcqQ<w~_bDcO+nn&Y%TT$n@C8hx"
        "}s4zVSjWEZqQo}ZhUce1lT80W?rQ%<u#(T$XL_Uf`fa0Si~VTiInjGZh|k|wf0K%;M{iN&!$l2dh$MrE--P|8+^$"
        "OW-KI~#`?52vs{7s&P38A-4|c9v<n(ATd&H0VT`^d7H2<+3iNo@cH<5Lhuu&atgON_idwgZ->O=^+PXyh^M;h1tF"
        "kdYP*~gn(+oyXmSwIPn`tfjg={OniHS%8sc&ZFhifm*c2EYdJa`=sBoAo(QY7ypg9rQm?jo73-!yL7*nb@<paU%F"
        "@LXRidRo>&2GxJOHIX8EYmKt6!u){}}&ApunR)t`t9h9V4SZ48T^&BZs0t)DrVwwCtfjp|csE&{Ls5QPzA6dc2@N"
        "?)nW`vL>KEkeIK>_9UM_Xmn9}uK%4s3>!04klma=a9H|Kp}w0xn@*DE=AxQENGcN#XNs9WXPN9%D0P@Wmi&j>F=L"
        "lMcR-?Yi&U0BQ39)`JxP^6zVL_6Q9+bHgk3Qu(maztGCH~8$vcuiUte-mMLv-~@B$tQQbdqH&c}(~{hN+IS0`>1x"
        "wecyEy+Sv`q+v;y{C_8>H>*B^>nJ{wls%7%NFDdlWv7SVsBBwxUhpiadxxqY5Rdc`PW}5@=kz1#a(pzQCEFGHb|G"
        "$=_7hSAU5nbp9FV5{UYPem-=%*LqJz)JqK|=5lhX1vsi3D|Nf!#h}dR7B%|S|Ym{L>B|Z#PwJTXax%`dy3bIc>OA"
        "DVe9K$_7",
    ),
    "exponential_width32": (
        "f32",
        "WhaX@?8E{xlC@Sct(lB6Hy5cgh=js2kH*<D#%Av_g5Lo%*@g=<6~GiTNSqxrt|%rm#cwV%2zoX%Z%#fl%ko7t18h"
        "w*M!r-tFYQ}1-}_=S676X-G{bN+W`K7ylO}#Mw_AcULYjp$oX?0eXZ(vZHzAKRlRlC&_f(ZL)nu46mu{OgpK_ivM"
        "scAt<7%Wc!(XQ}F;J>Aay+dw#w4&aYYDS6o9eYQjL5h%aihC4e0#n#+fczXxg*3gL-fWop2Ep9@{Y_iWLeKM79!F"
        "!E9ulT!migd{Bqhe_BGuz&G+9kow(vNfq3OJlsD)z@b&65tF!Gh;BfFWq%HF^59;+ZH>UVAF=G2O6CVCE`D_3*@X"
        "7%+`6vT49)|=pXypYo;X?;BlA;JSg8>ROzhDbAO~4E^Hy{o)g@6w<Kj9EGZbA|?8l)36Oa>J+3uzWKVayjaR4^Gd"
        "?UWicHToMgGGHAv?#3Q8a4sM;zm_31<^Liy=xHQ0(bOe0s6Zz)bgd{fJ{u}D4vH%@>-j7+-)b&2@Z2vnCr~jojl?"
        "oEDLOPX1hF+VCMh>GnW8u}V;wp)kC{6(Bo{q2E0#Vqt`<NvwwOUQOB_QqcA-QxLMTQwxUfew;5tb(#>PrCa#Tz-@"
        "8eB0M|Dp$ga}bIvYk>i+B8%&2hLSAMQK+wp9WbpAf{S0)JI%2$Ln1*1(IJhnmS=Ll;vVH|B_@h=t5>RT=i!(YN}~"
        "8A7X1XiyUn<y4h|tzL{_|q+D_|eIj%;S?hH)NVj)1TZVZwrC573HZFZMAP0Xmym5dur(uCKT~mTI=0<}wPCSG(pf"
        "iOu<t&CYD=3FFdnJf8<0OeRZzhT~EGmmMCoqgOZ8(iI4MUDJ6;O{fm0yrFn{kmeH-?fld!3Uscej)@KGc;o;PaL="
        "a~7C12t1iIwq%+#kdT`+t-qW!B=Vg!3@D#8e_^0BmY$(BY~P|Z9VDbQ#cZWCgt?|PcnYXA#9yg2h`FjX>KCju5PP"
        "jOAmgqyMNqIbslu@|dpff;>bJBsDLb|_Zp61V?o+um=jpmMmWI4EJSx64AJxA!iHE^7$U(z2E(FCi6wk&q*P_TY+"
        "JDM4h-S<*QdiD2vQp4ADp}GrMr+hGoQc*n&a~Jxi|yJpk2Kvhr;6V+vhd+FqG#kZfAHosYmDhMq&)02g#zz1li%?"
        ")dDZkZ6Xy3cbrbtE@?ZWm7UuvpjIaVV4vqvhjDZF<K#d4B!?OxC9{3D3<y{XoUg;4vt)CP%9ETS*ai<zJb_yOfyS"
        "yPazRo2z!d5CZ*K;p5J5x0^hdMkp|C~fM;7(69^Bi6^$xe1P",
    ),
    "exponential_inside32": (
        "u32",
        "QAlwB00000Z}m+8*1KT<-EL|CphRx~bX0Nx`EPUpZ~1iq(<FBQClGi5?#*}rENXcG2<>?QH(YuE*SmTE^bUIf+*f"
        "-5Q<!@IyU}|9E(Lr5j5B-yj$M2J$b)<UxTbsn#>RXAN#uM0jQ@N9%@}<ELoj^+9Y%csgj#(7n{9mnf`5GgQ;>ZCD"
        "4=}+6|a2&ExmmJg35gWBG-KY9OHceeC~Y!P5FHQnFD?RX$^h=#uk16wjX`~LMVO!Z!mrULpXi_#6Nxj_C|gH-%Wl"
        "1fmD6~;#z(H1Yv#v>}Gxdn{0jn6>@$6U3Y!}c6@#SV1a%BAclSbwu*iLB#(XoZIgZglb3z~m79J5cb|R$I-`C7-l"
        "l#4W~zPw(XD;}Be8w}TC{!udAEK5fVzGFalL*3OTc~r5W{`|!Nq<6UdVm`>B@cpVa<L3$IpHM9MXOOVAOs9l-7O#"
        "x!8UH&f0ze)!cpn&fb0ixZr*Omg0T@X5@YVD&~Fw;^%$<jp=>>E$e;&!R&qjO74CD$?tvuJ@I}3r}BOP2K0UaT=j"
        "kcsP=vU>-T;DB>8>-Rr-Daefxd@ocw+Ovi*Jl!Tx>#$Nzo+#Q=W*y8(Xysseuikpq7Ka0Gt<NCkfY7zTd;;s$>Jq"
        "z8WhU<iKz6bXL-!U=x>X$pS;2@8J!qYHlkHVl6N!VG@^NDY4g$PIr0K@NWav<`m&ArF55h!1}N=nsDYLJ)rdmJoj"
        "c<Pd)VD-nMHZ4rL}s1bhv-4TBP3=)3;H4=XSSQ38#bP|66iV}YSni78iq!NDsrxJevq!NDsn-YHjixPhTbP|66R}"
        "y~!GZKFQ2@-z**b#pKpAmlmU=e=+8WDd0%n*M7cMyL78xVg0w-0{+OAmhl*A9OGTn>K#*bRRGObvekw+w#(84P~_"
        "a|?d}!wP=@3JQM!M+tubdkB93qz8Wh!Ulf;)&+k6-voaE+yj3A%>sV_vH^bpivWKBR{wqg6aIbx!~A{#Wcz*q_W6"
        "DQc=&z*>h^vBOZ9#Ln)7}D*71G-|L=YP6z+Zi6YPEf{po%H&*y#siRFF(DdT<suHb$E7T$gUVcUKHjM#nvmDPR#d"
        "(wUYJI{Uq)60GULCAgpfy90Qk-&ZcZM=Q}5x9N;db552q^^Ddh^c-6BBXu*Yo2}pU6_6V?~#508jF4a)PsHi5qy3"
        "C#dCfD;c9*WRbhSr4_AHw_e*{N^FMw7<}!W&tR#K_7!`g1_XB<a3h{ja1KfQ8fW&<O395Yn0E~SAnrVFi$w7Sp9u"
        "s{4m)m>*QJ8!H_(XgFyxMyJGfsN|n2LG;hh=#H*>`sUH*IqO",
    ),
    "exponential_height32": (
        "f32",
        "004kLFDh_9Glgb91SnrWcnDcP)wNSUx%5syj-g6F9HmA-MDIdBQFK2)bt^nS+YLEC8WuJ`(?2smZig^G>**~&#AG"
        "W!(e)@lHk&3tSW_fF%^V^>S@s`4;@%xUZPgn;8rc~?AL$oA#sn5WX)6>zaa<BVR+kVzncEIO#wZOxbAAgyKHLdE%"
        "0UP}#I6QE+#&@(%AEs0M;`(|7N-C|@M-=&Y?1puH^lfp>H+pXDoXP{oSg7J?D*|I%wFq0@6G5w4@Txb=f>kcH&Ed"
        "|!QtLMOMBctogCUeg2mT9$92^{J1x^bvFp%2`>@VF@O;cZWlzdJG$_bEI0wc)OzguxPS?Rc8_2&tmA<_`oVvR{61"
        "=%S+QPR!+0L~-^xv~S685n^84<8P@i4AFgH^0PxqhlXe5|NGxZb8dSrw%|Nl>FccaNby(9)kiLK>bvx@DX`DYcqD"
        "eh8U9sb7~qn!1%fLm8AllzWmsfZ>on_)3pH@3)OUSSXA>C!C5tP7{ef!;ObNcngL;VvK}7co2g=te1g4^&x;hl3s"
        "m2JAZmU(4}`iK+<$RcLZ`iVmxm?@p)`M5xr?XvIS>8!c$~EGpAub^Z#Bx^j%y&Cc#-gdMQ^v;+9lCPzh2#w}4MR2"
        "mMSwHGWDyGXzLJ^^Qe8ZXQEElCnTPR!crUuIM{Hj*2-x>o7MyyW2EA^NKP)h(0hraP}=eqOvPK6LTp(yEi93j{qe"
        ";hRq^An4Ta$ymKBt=}a6x7b+S)Jqs8<RPYr(RM`_gG{zA=?Y0j-d8-XR&!Y=I>7NNcz@G;`Orr%phpGcUY_$PC<%"
        "j=0E3ErHo!9q0FbecN*hBC=iG=JuILzoh+ZyFPXmH^@)6CsH6ENC69-7uY>I&06Zi3G}q5#Z2e1*t8^bo~80i(e^"
        "oIAcfyxO`wT7b7bZ!EMu^WLyM-<PdDE?25O*c_)l*XW}?CA*+Ky_20inR1#vv{#os2}6`UlQfY%O)QQ*G%AZdL@t"
        "Ouc{qhV&q#tjhQ5A1rT2I}^*nPua*l0180=>~<5glk(aT&t-c46M3fxgWRCY`~yBtS7LC--w=8Zf(tXMZamM=0rs"
        "S+(c=m97_S^XkC0tFsD>=+q69yt^}qh$|0g`NsM(BlO?lQjW7wkP>Kbp7u<gY4!!3-#SRHy71BI8)3#L#e|&j~Tl"
        ">T%@u*?MbRUjtZhYk>;5^Pu`I{EAojvkRpOS@85Jh$+cxX)5lgkQx`})x1~8em~<;V#)Ta`PumYXk#_<-kh<zSPa"
        "n}c`XsnJzSN&P>p6%!oW){0NW?ZfU84*;t6j-DSde`>;u!8Z",
    ),
}
DTYPE_OF = {name: dtype for name, (dtype, _) in _DATA.items()}


@cache
def table(name: str) -> np.ndarray[Any, Any]:
    """Return the 256 numbers of a table.

    Examples
    --------
    >>> table("normal_height64")[:2]
    array([1.       , 0.9771017])
    """
    dtype, text = _DATA[name]
    found = np.frombuffer(base64.b85decode(text), DTYPES[dtype].newbyteorder("<"))
    return found.astype(DTYPES[dtype])


__all__ = ["DTYPE_OF", "table"]
