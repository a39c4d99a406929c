Xtigervnc :1 -geometry 1280x800 -SecurityTypes None -localhost -rfbport 5901 > /tmp/vnc.log 2>&1 &
while ! test -e /tmp/.X11-unix/X1; do sleep 0.1; done
icewm > /tmp/icewm.log 2>&1 &
xterm -title Terminal -geometry 80x24+100+100 &
exec python3 -m websockify --web /usr/share/novnc 6901 127.0.0.1:5901
